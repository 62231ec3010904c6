"""The made-up data that the component reference shows every component on (see `render_docs`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from dataflex_data.policies import RolloutBatch

# One made-up step that every scorer, selector and reweighter is shown on; see the pages.
BATCH = RolloutBatch(
    rewards=[1, 0, 0, 1, 1, 1, 1, 0],
    uids=["p"] * 4 + ["q"] * 4,
    lengths=[4, 2, 3, 1, 2, 5, 1, 2],
    domains=["math"] * 4 + ["logic"] * 4,
    advantages=[0.87, -0.87, -0.87, 0.87, 0.5, 0.5, 0.5, -1.5],
    old_log_probs=np.log([0.9, 0.8, 0.9, 0.5] + [0.5, 0.2] + [0.9, 0.9, 0.1] + [0.8]
                         + [0.7, 0.6] + [0.9] * 5 + [0.3] + [0.4, 0.2]),
    entropy=[0.2, 0.3, 0.2, 0.6] + [0.6, 0.9] + [0.2, 0.2, 1.1] + [0.4]
    + [0.5, 0.6] + [0.2] * 5 + [0.8] + [0.7, 0.9],
    extra={"constraints": [3, 3, 3, 3, 1, 1, 1, 1]},
    group_size=4,
)  # fmt: skip
# Components whose parameters have no default, or that say more with others.
PARAMS: dict[str, dict[str, Any]] = {
    "column": {"column": "constraints"},
    "threshold_band": {"low": 0.2, "high": 0.7},
    "max_variance": {"keep_fraction": 0.5},
    "gfpo": {"k": 2},
    "matched_random": {"pair": {"name": "topk_fraction"}},
    "matched_update_token": {"pair": {"name": "topk_fraction"}},
    "difficulty_band": {"low": 0.25, "high": 0.6},
}
SCORER_OF = {
    "topk_fraction": "advantage_magnitude",
    "matched_random": "advantage_magnitude",
    "matched_update_token": "advantage_magnitude",
    "softmax": "advantage_magnitude",
    "per": "advantage_magnitude",
    "per_advantage": "advantage_magnitude",
}
SCORER_FOR = {
    "group": "group_solve_rate",
    "response": "reward_difficulty",
    "token": "token_prob",
}
MIXER_PARAMS: dict[str, dict[str, Any]] = {
    "adarft": {"difficulty": {"logic": 80.0, "math": 40.0, "science": 10.0}},
    "plr": {"inner": {"name": "reward_gap"}},
    "schedule": {
        "points": [
            {"step": 0, "weights": {"logic": 1, "math": 2, "science": 1}},
            {"step": 6, "weights": {"logic": 1, "math": 1, "science": 2}},
        ],
        "between": "linear",
    },
    "static": {"weights": {"logic": 1, "math": 2, "science": 1}},
}
RECORDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    # source: (parameters, a record made up in the published shape)
    "gsm8k": (
        {},
        {
            "question": "Ada packs 12 boxes of 90 pens. How many pens are that?",
            "answer": "She packs 12*90=<<12*90=1080>>1080 pens.\n#### 1,080",
        },
    ),
    "deepscaler": (
        {},
        {"problem": "What is half of $\\frac{2}{3}$?", "answer": "\\frac{1}{3}", "solution": ""},
    ),
    "math_dapo": (
        {},
        {
            "prompt": [
                {
                    "role": "user",
                    "content": "Solve the following math problem step by step. The last line of "
                    "your response should be of the form Answer: $Answer (without quotes) where "
                    "$Answer is the answer to the problem.\n\nWhat is $3^4$?\n\nRemember to put "
                    'your answer on its own line after "Answer:".',
                }
            ],
            "reward_model": {"ground_truth": "81", "style": "rule-lighteval/MATH_v2"},
        },
    ),
    "sciq": (
        {},
        {
            "question": "Which gas do green plants take up in daylight?",
            "correct_answer": "carbon dioxide",
            "distractor1": "helium",
            "distractor2": "neon",
            "distractor3": "methane",
            "support": "",
        },
    ),
    "knights_and_knaves_published": (
        {},
        {
            "quiz": "A very special island is inhabited only by knights and knaves. Knights always "
            "tell the truth, and knaves always lie. You meet 2 inhabitants: Ada, and Ben. Ada was "
            'heard saying, "Ben is a knave". According to Ben, "Ada is a knight and Ben is a '
            'knight". So who is a knight and who is a knave?',
            "names": ["Ada", "Ben"],
            "solution": [True, False],
        },
    ),
    "jsonl": (
        {
            "columns": {"question": "q", "gold": "right", "options": ["wrong"]},
            "verifier": "choice",
            "license": "CC-BY-4.0",
        },
        {"q": "Is 91 a prime number?", "right": "no", "wrong": "yes"},
    ),
    "parquet": (
        {
            "columns": {"question": "problem", "gold": "answer", "difficulty": "level"},
            "verifier": "math",
            "license": "MIT",
        },
        {"problem": "What is $7 \\cdot 8$?", "answer": "56", "level": 2.0},
    ),
}
NEEDS_EXTRA = {"reasoning_gym": "reasoning_gym"}  # shown in words: its rows need the extra
FILTER_TEXTS: tuple[tuple[str, str], ...] = (
    ("language", "计算 3 加 4 的和等于多少？"),
    ("figures", "In the figure below, what is the length of the side that is marked?"),
    ("figures", "[asy] draw((0,0)--(1,1)); [/asy] What is the slope of this line?"),
    ("figures", "See https://example.org/a.png and give the number of squares."),
    ("degenerate", "$3 + 4 = ?$"),
    ("degenerate", "Give the sum of 3 and 4 as \\boxed{7}."),
    ("degenerate", "What is 3 + 4? A) 6 B) 7 C) 8"),
    ("degenerate", "(a) Find the sum of 3 and 4. (b) Find the product of 3 and 4."),
    ("degenerate", "Prove that the sum of two odd numbers is even."),
    ("degenerate", "What is 3 + 4?<br>Give a number."),
    ("degenerate", "What is the sum of all of these numbers? " + "one " * 2000),
)
ITEM = (
    "A train leaves the station at noon and travels sixty miles in every hour; at what time has "
    "it travelled a distance of ninety miles in all?"
)
SHORT_ITEM = "Name the capital of Iceland please"
LATEX_ITEM = (
    r"Let $x$ be a real number with $\frac{1}{2}x \le 3$ and $x \geq 4$; what is the sum of the "
    r"largest and the smallest value that $\left(x + \frac{1}{2}\right)$ can take under both rules?"
)
OPTION_ITEM = (
    "Which of the following four metals has the largest density when it is measured at room "
    "temperature and at ordinary pressure?"
)
CHANNEL_ROWS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("the item itself", ITEM, ()),
    ("in capitals, other spacing and marks", ITEM.upper().replace(" ", "  "), ()),
    ("inside a longer prompt", f"Think it over with care. {ITEM} Give the time alone.", ()),
    (
        "with two words put in",
        ITEM.replace("at noon", "at noon sharp").replace("in all?", "in all, then?"),
        (),
    ),
    (
        "LaTeX spelt in another way",
        LATEX_ITEM.replace("\\frac", "\\dfrac").replace("\\left(", "(").replace("\\right)", ")")
        .replace("\\geq", "\\ge"),
        (),
    ),
    ("a short item in a longer prompt", f"One more thing. {SHORT_ITEM}, in one word.", ()),
    ("the question with other options", OPTION_ITEM, ("tin", "zinc", "iron", "lead")),
    ("another question", "What is the boiling point of water at sea level?", ()),
)  # fmt: skip
VERDICTS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    # kind: (gold, options, responses)
    "math": (
        r"\frac{1}{2}",
        (),
        (
            r"\boxed{\frac{2}{4}}",
            r"\boxed{0.5}",
            r"\boxed{50\%}",
            r"\boxed{3} wait, no: \boxed{\dfrac12}",
            r"\boxed{\frac12 \text{ or } 2}",
            "The answer is 1/2.",
            r"<think>\boxed{\frac12}",
        ),
    ),
    "choice": (
        "B",
        ("iron", "lead", "tin"),
        (
            r"\boxed{B}",
            "The answer is B, not A.",
            r"\boxed{lead}",
            "Answer: A or B",
            "Answer: vitamin B",
            "b",
        ),
    ),
    "logic": (
        "Emma is a knight, and Liam is a knave.",
        (),
        (
            "Final answer: Emma is a knight, Liam is a knave",
            "**Emma** is a **knight** and **Liam** is a **knave**.",
            "Emma: knight\nLiam: knave",
            "If Emma is a knight then Liam is a knave.",
            "Final answer: Emma is a knight, Liam is a knave, Bob is a knave.",
        ),
    ),
}


ITEMS: tuple[dict[str, Any], ...] = (
    {"id": "train", "question": ITEM, "options": []},
    {"id": "capital", "question": SHORT_ITEM, "options": []},
    {"id": "latex", "question": LATEX_ITEM, "options": []},
    {"id": "metal", "question": OPTION_ITEM, "options": ["gold", "silver", "copper", "nickel"]},
)
