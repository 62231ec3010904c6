"""One page that ties a corpus, its audit, the ledgers of runs and an evaluation together.

`files` finds and checks what other parts of the package wrote; `page` shows it and nothing else:
all figures were computed by those parts. Texts of evaluation items never stand on the page, gated
or not, nor does a training row that an audit found near to a gated one.
"""
