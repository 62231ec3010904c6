r"""Words beside an announced answer that deny it, take it back, or name a second one.

What they look at is short and next to the answer: a clause that leads up to it, and what follows.
"""

from __future__ import annotations

import re

from dataflex_data.verifiers.extraction import Box


def taken_back(text: str, box: Box) -> bool:
    r"""Return whether the words right before or after a box say that it is not the answer.

    Such as ``is not \boxed{18}``, ``\boxed{18} (wrong)``, ``\boxed{18}?`` and struck-out boxes.
    """
    start, is_last = box.start, box.end == len(text)
    if is_last and start > 2 and text.startswith("\n\n", start - 2):
        return False  # alone in the last paragraph, as asked
    before = text[start - 24 if start > 24 else 0 : start].rstrip(_OPENERS)
    if before.endswith(_DENIAL_ENDS) and _DENIED.search(before.lower()):
        return True
    if is_last:
        return False
    after = text[box.end : box.end + 48]
    return _WITHDRAWN.match(after.lower()) is not None


_OPENERS = " \n$*({:=\\["
_DENIAL_ENDS = (
    "not", "never", "neither", "nor", "cannot", "n't", "n’t", "be", "equal", "equals", "to",
    "answer", "!", "\\ne", "\\neq", "~~", "NOT", "Not",
)  # fmt: skip
_DENIED = re.compile(
    r"(?:(?<![a-z])(?:not|never|neither|nor|cannot)|n['’]t)"
    r"(?:\s+(?:be|equals?|to|the|answer))*\Z|(?:!|\\neq?|~~)\Z"
)
_WITHDRAWN = re.compile(
    r"[\s$*.)\]}\\]*(?:[?？]|~~|\((?:this\s+is\s+|that['’]?s\s+)?(?:wrong|incorrect|false|not\s+(?:correct|right"
    r"|true|sure)|maybe|perhaps|i\s+guess|a\s+guess|\?)"
    r"|(?:is|was)(?:n['’]t|\s+not)\s+(?:the\s+|my\s+)?(?:final\s+|right\s+|correct\s+)?(?:answer|right|correct)"
    r"|(?:is|was|seems|looks)\s+(?:wrong|incorrect|false)"
    r"|[,;—–-]*\s*(?:no,?\s+wait|scratch\s+that|that['’]s\s+(?:wrong|not\s+right)|不对|吗|是错|不正确))"
)


def denied(lower: str, at: int) -> bool:
    """Return whether the clause that leads up to a marker at ``at`` denies or only reports it."""
    lead = lower[max(0, at - _LEAD) : at]
    start = max(map(lead.rfind, _CLAUSE_ENDS)) + 1
    lead = lead[start:].strip(_MARKS)
    if len(lead) < 2 or lead in _PLAIN_LEADS:
        return False
    lead = _NOT_DENIED.sub(" ", lead)
    lead = _BREAK.split(lead)[-1]
    if _DENIAL.search(lead):
        return True
    report = _REPORT.search(lead)
    return report is not None and report.group(1) not in _OWN_VOICE


_LEAD = 90
_CLAUSE_ENDS = (".", ",", ";", ":", "!", "?", "\n", "。", "，", "；")
_PLAIN_LEADS = frozenset({
    "the", "the correct", "the final", "final", "so the", "so the correct", "thus the", "my",
    "therefore the", "hence the", "the right", "the best", "**final", "correct", "so", "##", "###",
    "the most likely", "and the", "i think the", "i choose", "最终", "正确",
})  # fmt: skip
_BREAK = re.compile(r"\b(?:so|thus|therefore|hence|then|because|since|means|implies)(?:\s+that)?\b")
_NOT_DENIED = re.compile(
    r"\b(?:(?:there\s+is\s+|there['’]s\s+|i\s+have\s+)?(?:no|little)\s+(?:doubt|question)|without\s+(?:a\s+)?doubt|"
    r"(?:no|not)\s+(?:surprise|surprisingly)|not\s+(?:hard|difficult)\s+to\s+see)\b"
)
_DENIAL = re.compile(
    r"(?:(?<![a-z])(?:not|no|never|nobody|none|nothing|cannot|hardly|few|doubt(?:s|ed|ful)?|den(?:y|ies|ied)|"
    r"false|untrue|wrong|wrongly|incorrect|incorrectly|mistake|mistaken|mistakenly|impossible|unlikely|implausible|"
    r"improbable|disagree|refuse|reject|myth|unless|whether|if|suppose|supposing|assume|assuming|"
    r"imagine|pretend|guess|lie)|n['’]t)(?![a-z])"
    r"(?!\s+(?:(?:option|choice|be|is)\s+)?(?:[(]?[b-z][)]?|a)\s+(?:the|answer)\b)"
    r"(?:\s+(?!and\b|but\b)[a-z'’]+){0,6}\s*\Z"
    r"|(?:不认为|不觉得|不相信|不同意|不应|不能|不会|不该|怀疑|并非|不是说|不能说|否认|没有人|如果|假如|假设|有人|学生|同学|他|她)[^。，,\n]{0,8}\Z"
)
_REPORT = re.compile(
    r"([a-z]+)(?:['’][a-z]+)?\s+(?:(?:would|might|may|could|will|can|often|also|then|first|even|wrongly)\s+)*"
    r"(?:says?|said|claims?|claimed|thinks?|thought|believes?|believed|argues?|argued|insists?)"
    r"(?:\s+that)?(?:\s+(?:the|its?|final|correct|right|best))*\Z"
)
_OWN_VOICE = frozenset({"i", "we", "to", "must", "me", "us", "confidently", "safely", "therefore"})


_MARKS = " \t\n:：=-–—>→$\"'“”‘’("
# After the letter of an option: it is asked, called wrong, made conditional or dropped.
WITHDRAWAL = re.compile(
    r"[\s.)\]}$]*(?:[?？]|[,;.。，]?\s*(?:不对|不正确|不是|是错|错误|错的|错了|并不|有误|吗)"
    r"|\(\s*(?:this\s+is\s+|that['’]?s\s+)?(?:wrong|incorrect|false|not\s+(?:correct|right|true|sure)|"
    r"maybe|perhaps|possibly|i\s+guess|a\s+guess|just\s+a\s+guess|\?|(?:or|and)\s+(?:option\s+)?\(?[A-Z](?![A-Za-z]))"
    r"|(?:is|was)n['’]t\s+(?:right|correct|true|the)|(?:,\s*)?(?:only\s+)?(?:if|unless|assuming|supposing)\s+(?!you\b|we\b|i\b)"
    r"|[,;—–.-]*\s*(?:no,?\s+wait|wait,?\s+no|scratch\s+that|never\s?mind|just\s+kidding|"
    r"that['’]s\s+(?:wrong|incorrect|not\s+right|not\s+true)|that\s+is\s+(?:wrong|incorrect|not\s+(?:right|true)))"
    r"(?![a-z]))",
    re.I,
)
# A second letter with nothing but a space before it, and nothing said of it.
LISTED = re.compile(
    r"[)\]]?(?:[ \t]+|\s*\n\s*(?=[(\[]?[A-Z][)\]]?\s*(?:\Z|\n|<)))[(\[]?([A-Z])[)\]]?"
    r"(?=\s*(?:\Z|[\n<\"'},;]|\.\s*\Z|[(\[]?[A-Z](?![A-Za-z'’])))"
)
CORRECTED = re.compile(
    r"[\s,;.…!—–-]*(?:no|wait|actually|sorry|oops|correction|on\s+second\s+thoughts?|or\s+rather|i\s+mean|"
    r"make\s+that|hmm)[\s,;:.…!—–-]+(?:(?:no|wait|actually|sorry|it['’]?s|it\s+is|i\s+mean[t]?|make\s+(?:it|that)|"
    r"it\s+(?:should|must)\s+be|option|choice|rather)[\s,;:.…!—–-]+)*[(\[]?([B-Z]|A(?!\s+[a-z]))[)\]]?"
    r"(?![A-Za-z'’])(?!\s+(?:is|was|are|can)\b)",
    re.I,
)
