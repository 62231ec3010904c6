r"""Responses in the styles of today's models, with verdicts decided before anything was run.

Written from the contracts alone, without a look at the code's own adversary cases. Expected is what
a strict reader who knows the template would say: the answer must be given where it is asked for,
but in any plain notation.

The first run (2026-11-29) differed in 18 of the 246. Four wrong answers counted: a box followed by
"(or 18", a numeral of another base, a lying knight, an honest knave. Fourteen right ones lost: a
box with its value once more after "or", units in Chinese, "C is the correct answer", "Answer C"
and "Answer - C", answers announced in Chinese, a letter with its option as the last line under a
heading or as the whole response, an option's text that begins with "the" or reads "all of the
above", and "Emma's a knight". The code was mended; no expectation was changed.
"""

from __future__ import annotations

import pytest

from dataflex_data.verifiers import routes

MATH: list[tuple[str, str, str, int]] = [
    # --- wrapping: thinking, headings, bold, fences, tables
    ("aime_2024", "<think>\nOkay, so we need the number. Maybe \\boxed{12}? No.\n</think>\n\n"
     "### Step 1\nWe count.\n\n**Final Answer**\n\n\\[\n\\boxed{204}\n\\]", "204", 1),
    ("aime_2024", "so it is 12, \\boxed{12}\n</think>\n\nThe answer is \\boxed{204}.", "204", 1),
    ("aime_2024", "so it is 12, \\boxed{12}\n</think>\n\nThe answer is \\boxed{204}.", "12", 0),
    ("aime_2024", "<think>a</think> \\boxed{5} <think> hmm, let me check again", "5", 0),
    ("aime_2024", "<think>\n\\boxed{25}\n</think>", "25", 0),
    ("aime_2025", "<|begin_of_thought|> \\boxed{3} <|end_of_thought|> \\boxed{70}", "70", 1),
    ("aime_2025", "**\\boxed{70}**", "70", 1),
    ("aime_2025", "```latex\n\\boxed{70}\n```", "70", 1),
    ("aime_2025", "| n | value |\n|---|---|\n| 1 | 5 |\n\n$$\\boxed{70}$$", "70", 1),
    ("aime_2025", "Final Answer: The final answer is $\\boxed{070}$. I hope it is correct.", "70", 1),
    ("aime_2024", "\\boxed{33}", "033", 1),
    ("aime_2024", "\\boxed{330}", "033", 0),
    # --- the answer not where it is asked for
    ("aime_2024", "Final Answer: 204", "204", 0),
    ("gsm8k", "She makes 9 * 2 = $18 every day.\n\n#### 18", "18", 0),
    ("math500", "Please reason step by step, and put your final answer within \\boxed{}.", "5", 0),
    ("math500", "As asked, I put my answer within \\boxed{}. It is \\boxed{7}.", "7", 1),
    ("math500", "I'm sorry, but I can't help with that. \\boxed{\\text{N/A}}", "5", 0),
    ("math500", "The system is inconsistent: \\boxed{\\text{no solution}}", "0", 0),
    ("math500", "The system is inconsistent: \\boxed{\\text{No solution}}",
     "\\text{no solution}", 1),
    ("math500", "Adding up gives 1 + 2 + 3, hence \\boxed{1", "1", 0),
    # --- several boxes, corrections, hedges
    ("math_dapo", "So \\boxed{12}. Wait, I made a mistake. Let me redo it: \\boxed{14}.", "14", 1),
    ("math_dapo", "So \\boxed{12}. Wait, I made a mistake. Let me redo it: \\boxed{14}.", "12", 0),
    ("math_dapo", "\\boxed{14}\n\nTherefore the answer is $\\boxed{14}$.", "14", 1),
    ("math_dapo", "$\\boxed{12}$, $\\boxed{14}$", "14", 0),
    ("math_dapo", "\\boxed{12 \\text{ or } 14}", "14", 0),
    ("math_dapo", "\\boxed{17} (or 18 if the end counts)", "17", 0),
    ("math_dapo", "The answer is \\boxed{17}, since 17 is 34/2, or simply half of 34.", "17", 1),
    ("deepscaler", "The probability is $\\boxed{0.5}$ or 50\\%.", "\\frac{1}{2}", 1),
    ("deepscaler", "The probability is $\\boxed{\\frac{1}{2}}$ or 0.6.", "\\frac{1}{2}", 0),
    ("math_dapo", "\\boxed{14?}", "14", 0),
    ("math_dapo", "\\boxed{\\text{between } 13 \\text{ and } 15}", "14", 0),
    # --- numbers as people write them
    ("gsm8k", "\\boxed{$18}", "18", 1),
    ("gsm8k", "\\boxed{\\$18.00}", "18", 1),
    ("gsm8k", "\\boxed{18 \\text{ dollars}}", "18", 1),
    ("gsm8k", "\\boxed{\\$18 \\text{ per day}}", "18", 1),
    ("gsm8k", "\\boxed{70{,}000}", "70000", 1),
    ("gsm8k", "\\boxed{70000}", "70,000", 1),
    ("gsm8k", "\\boxed{70.000}", "70000", 0),
    ("gsm8k", "\\boxed{20\\%}", "20", 1),
    ("gsm8k", "\\boxed{0.2}", "20", 0),
    ("gsm8k", "\\boxed{5 hours}", "5", 1),
    ("gsm8k", "\\boxed{300 \\text{ minutes}}", "5", 0),
    ("gsm8k", "\\boxed{5 \\text{ hours } 30 \\text{ minutes}}", "5", 0),
    ("gsm8k", "\\boxed{18.5}", "18", 0),
    ("math_dapo", "\\boxed{1 000 000}", "1000000", 1),
    ("math_dapo", "\\boxed{10^6}", "1000000", 1),
    ("math_dapo", "\\boxed{1{,}000{,}001}", "1000000", 0),
    ("math_dapo", "\\boxed{n = 12}", "12", 1),
    ("math_dapo", "\\boxed{x = 12, y = 3}", "12", 0),
    ("math_dapo", "\\boxed{3^{11} - 1}", "177146", 1),
    ("math_dapo", "\\boxed{\\binom{10}{3}}", "120", 1),
    ("math_dapo", "\\boxed{5!}", "120", 1),
    ("math_dapo", "\\boxed{-7}", "7", 0),
    ("math_dapo", "\\boxed{17.0}", "17", 1),
    # --- MATH-500
    ("math500", "\\boxed{\\left(3, \\frac{\\pi}{2}\\right)}",
     "\\left( 3, \\frac{\\pi}{2} \\right)", 1),
    ("math500", "\\boxed{(3, \\pi/2)}", "\\left( 3, \\frac{\\pi}{2} \\right)", 1),
    ("math500", "\\boxed{3, \\pi/2}", "\\left( 3, \\frac{\\pi}{2} \\right)", 0),
    ("math500", "\\boxed{-q + p}", "p - q", 1),
    ("math500", "\\boxed{q - p}", "p - q", 0),
    ("math500", "\\boxed{\\dfrac{14}{3}}", "\\frac{14}{3}", 1),
    ("math500", "\\boxed{4\\frac{2}{3}}", "\\frac{14}{3}", 1),
    ("math500", "\\boxed{4.67}", "\\frac{14}{3}", 0),
    ("math500", "\\boxed{\\frac9{14}}", "\\frac{9}{14}", 1),
    ("math500", "\\boxed{0.5}", "\\frac12", 1),
    ("math500", "\\boxed{11\\sqrt2}", "11\\sqrt{2}", 1),
    ("math500", "\\boxed{\\sqrt{117}}", "3\\sqrt{13}", 1),
    ("math500", "\\boxed{10.8}", "3\\sqrt{13}", 0),
    ("math500", "\\boxed{\\frac{2}{\\sqrt{3}}}", "\\frac{2\\sqrt{3}}{3}", 1),
    ("math500", "\\boxed{2\\sqrt{3} + 3\\sqrt{2}}", "3\\sqrt{2}+2\\sqrt{3}", 1),
    ("math500", "\\boxed{Evelyn}", "\\text{Evelyn}", 1),
    ("math500", "\\boxed{\\textbf{Evelyn}}", "\\text{Evelyn}", 1),
    ("math500", "\\boxed{\\text{Briana}}", "\\text{Evelyn}", 0),
    ("math500", "\\boxed{42^\\circ}", "42", 1),
    ("math500", "\\boxed{\\$32{,}348}", "\\$32,\\!348", 1),
    ("math500", "\\boxed{-2 \\leq x \\leq 7}", "x \\in [-2,7]", 1),
    ("math500", "\\boxed{(-2,7)}", "x \\in [-2,7]", 0),
    ("math500", "\\boxed{(-\\infty, 2) \\cup (3, \\infty)}", "(3,\\infty)\\cup(-\\infty,2)", 1),
    ("math500", "\\boxed{(-\\infty, 2] \\cup [3, \\infty)}", "(-\\infty,2)\\cup(3,\\infty)", 0),
    ("math500", "\\boxed{x > 3}", "(3,\\infty)", 1),
    ("math500", "\\boxed{\\begin{pmatrix} -\\frac{1}{3} \\\\ \\frac{2}{3} \\end{pmatrix}}",
     "\\begin{pmatrix} -1/3 \\\\ 2/3 \\end{pmatrix}", 1),
    ("math500", "\\boxed{1 + \\sqrt{19}, 1 - \\sqrt{19}}", "1 \\pm \\sqrt{19}", 1),
    ("math500", "\\boxed{1 + \\sqrt{19}}", "1 \\pm \\sqrt{19}", 0),
    ("math500", "\\boxed{x = 3 \\text{ or } x = -5}", "-5, 3", 1),
    ("math500", "\\boxed{-5i + 6}", "6 - 5i", 1),
    ("math500", "\\boxed{6 + 5i}", "6 - 5i", 0),
    ("math500", "\\boxed{2516_{8}}", "2516_8", 1),
    ("math500", "\\boxed{2516_{10}}", "2516_8", 0),
    ("math500", "\\boxed{2x - y + 3 = 0}", "y = 2x + 3", 1),
    ("math500", "\\boxed{y = 2x - 3}", "y = 2x + 3", 0),
    ("math500", "\\boxed{\\frac{n(n+1)}{2}}", "\\frac{n^2+n}{2}", 1),
    ("math500", "\\boxed{12\\text{ cm}^2}", "12", 1),
    ("math500", "\\boxed{12\\text{ cm}}", "12\\text{ cm}^2", 0),
    ("math500", "\\boxed{\\text{(C)}}", "\\text{(C)}", 1),
    ("math500", "\\boxed{(a,b) = (5,7)}", "(5,7)", 1),
    ("math500", "\\boxed{(7,5)}", "(5,7)", 0),
    # --- OlympiadBench, Minerva
    ("olympiadbench", "\\boxed{5, 2}", "2,5", 1),
    ("olympiadbench", "The values are $\\boxed{2}$ and $\\boxed{5}$.", "2,5", 1),
    ("olympiadbench", "\\boxed{2}", "2,5", 0),
    ("olympiadbench", "\\boxed{2, 5, 7}", "2,5", 0),
    ("olympiadbench", "\\boxed{(2,1), (1,2)}", "(1,2),(2,1)", 1),
    ("olympiadbench", "\\boxed{(1,2)}", "(1,2),(2,1)", 0),
    ("olympiadbench", "\\boxed{2}", "$2$", 1),
    ("olympiadbench", "\\boxed{\\{2, 5\\}}", "$2,5$", 1),
    ("minerva_math", "\\boxed{4.5 \\times 10^{33}}", "4.5e33", 1),
    ("minerva_math", "\\boxed{4.5 \\times 10^{33} \\text{ erg/s}}", "4.5e33", 1),
    ("minerva_math", "\\boxed{4.5 \\times 10^{32}}", "4.5e33", 0),
    ("minerva_math", "\\boxed{8.5 \\cdot 10^{-4}}", "0.00085", 1),
    ("minerva_math", "\\boxed{3.0 \\times 10^8 \\, \\text{m/s}}", "3e8", 1),
    # --- Unicode and Chinese
    ("math_dapo", "所以答案是 $\\boxed{36}$。", "36", 1),
    ("math_dapo", "**最终答案**：\\boxed{36元}", "36", 1),
    ("math_dapo", "\\boxed{36 \\text{ 平方厘米}}", "36", 1),
    ("math_dapo", "\\boxed{３６}", "36", 1),
    ("math_dapo", "\\boxed{三十六}", "36", 0),
    ("math_dapo", "\\boxed{36 或 38}", "36", 0),
    ("math500", "\\boxed{2√3}", "2\\sqrt{3}", 1),
    ("math500", "\\boxed{x²+1}", "x^2+1", 1),
    ("math500", "\\boxed{5 × 10³}", "5000", 1),
    ("math500", "\\boxed{½}", "\\frac{1}{2}", 1),
]  # fmt: skip

GPQA = ("10^{-4} eV", "10^{-8} eV", "10^{-9} eV", "10^{-11} eV")
TEN = tuple(f"{n} J" for n in range(10, 110, 10))
CELL = ("mitochondria", "the nucleus", "ribosomes", "all of the above")
VITAMINS = ("vitamin C", "vitamin D", "vitamin A", "vitamin K")
BIRDS = (
    "The quail is the leftmost.", "The owl is the leftmost.", "The falcon is the leftmost.",
)  # fmt: skip
PEOPLE = ("Arnold", "Eric", "Peter")

CHOICE: list[tuple[str, str, tuple[str, ...], str, int]] = [
    ("gpqa_diamond", "**Answer: (C)**", GPQA, "C", 1),
    ("gpqa_diamond", "The correct answer is **(C)**.", GPQA, "C", 1),
    ("gpqa_diamond", "$\\boxed{\\text{(C)}}$", GPQA, "C", 1),
    ("gpqa_diamond", "\\boxed{C) 10^{-9} eV}", GPQA, "C", 1),
    ("gpqa_diamond", "\\boxed{C) 10^{-8} eV}", GPQA, "C", 0),
    ("gpqa_diamond", "\\boxed{10^{-9} eV}", GPQA, "C", 1),
    ("gpqa_diamond", "### Final Answer\n\nC", GPQA, "C", 1),
    ("gpqa_diamond", "### Final Answer\n\n**C. 10^{-9} eV**", GPQA, "C", 1),
    ("gpqa_diamond", "Answer: $C$", GPQA, "C", 1),
    ("gpqa_diamond", "Answer: C\n\nExplanation: A and B are far too large.", GPQA, "C", 1),
    ("gpqa_diamond", "The answer is C because D is too small.", GPQA, "C", 1),
    ("gpqa_diamond", "It is between B and C, so I'll go with C.", GPQA, "C", 1),
    ("gpqa_diamond", "The answer could be B or C.", GPQA, "C", 0),
    ("gpqa_diamond", "Answer: A, C", GPQA, "C", 0),
    ("gpqa_diamond", "Answer: A and C", GPQA, "C", 0),
    ("gpqa_diamond", "Answer: None of the above", GPQA, "C", 0),
    ("gpqa_diamond", "\\boxed{B \\text{ or } C}", GPQA, "C", 0),
    ("gpqa_diamond", "\\boxed{B} is tempting, but the answer is \\boxed{C}.", GPQA, "C", 1),
    ("gpqa_diamond", "\\boxed{B} is tempting, but the answer is \\boxed{C}.", GPQA, "B", 0),
    ("gpqa_diamond", "The answer is D. Wait, let me reconsider. The answer is B.", GPQA, "B", 1),
    ("gpqa_diamond", "The answer is D. Wait, let me reconsider. The answer is B.", GPQA, "D", 0),
    ("gpqa_diamond", "The answer is not B but C.", GPQA, "C", 1),
    ("gpqa_diamond", "The answer is not B but C.", GPQA, "B", 0),
    ("gpqa_diamond", "It cannot be A, so the answer must be B.", GPQA, "B", 1),
    ("gpqa_diamond", "<think>Answer: C\n</think>\n\nThe correct choice is **B**.", GPQA, "B", 1),
    ("gpqa_diamond", "<think>Answer: C\n</think>\n\nThe correct choice is **B**.", GPQA, "C", 0),
    ("gpqa_diamond", "<think>\nLet me see. The answer is C", GPQA, "C", 0),
    ("gpqa_diamond", "Step 1: we compare lifetimes.\n\nTherefore, the answer is", GPQA, "C", 0),
    ("gpqa_diamond", "Option A is wrong. Option B is wrong. Option C is right. Option D is wrong.",
     GPQA, "D", 0),
    ("gpqa_diamond", "I cannot determine the answer from what is given.", GPQA, "A", 0),
    ("gpqa_diamond", "A good approach is to compare both widths.", GPQA, "A", 0),
    ("gpqa_diamond", "A) 10^{-4} eV\nB) 10^{-8} eV\nC) 10^{-9} eV\nD) 10^{-11} eV", GPQA, "D", 0),
    ("gpqa_diamond", "C is the correct answer.", GPQA, "C", 1),
    ("gpqa_diamond", "Therefore, **C** is the correct answer.", GPQA, "C", 1),
    ("gpqa_diamond", "It would be wrong to say that C is the correct answer.", GPQA, "C", 0),
    ("gpqa_diamond", "Answer C", GPQA, "C", 1),
    ("gpqa_diamond", "Answer - C", GPQA, "C", 1),
    ("gpqa_diamond", "Answer: [C]", GPQA, "C", 1),
    ("gpqa_diamond", "{\"reasoning\": \"widths\", \"answer\": \"C\"}", GPQA, "C", 1),
    ("gpqa_diamond", "<think>B?</think>\n<answer>C</answer>", GPQA, "C", 1),
    ("gpqa_diamond", "答案是 C。", GPQA, "C", 1),
    ("gpqa_diamond", "因此，正确答案：C", GPQA, "C", 1),
    ("gpqa_diamond", "答案不是 C。", GPQA, "C", 0),
    ("gpqa_diamond", "最终答案：$\\boxed{C}$", GPQA, "C", 1),
    ("mmlu_pro_physics", "The answer is (J).", TEN, "J", 1),
    ("mmlu_pro_physics", "The answer is (I).", TEN, "I", 1),
    ("mmlu_pro_physics", "The answer is I.", TEN, "I", 1),
    ("mmlu_pro_physics", "Answer: I am not certain.", TEN, "I", 0),
    ("mmlu_pro_physics", "The answer is (K).", TEN, "J", 0),
    ("mmlu_pro_chemistry", "The work is 100 J.\n\nAnswer: 100 J", TEN, "J", 1),
    ("mmlu_pro_chemistry", "The work is 90 J, so the energy is known.", TEN, "J", 0),
    ("mmlu_pro_chemistry", "\\boxed{100}", TEN, "J", 0),
    ("bbh_logical_deduction", "So the answer is (B).", BIRDS, "(B)", 1),
    ("bbh_logical_deduction", "So the answer is B.", BIRDS, "(B)", 1),
    ("bbh_logical_deduction", "(B)", BIRDS, "(B)", 1),
    ("bbh_logical_deduction", "The answer is (B) The owl is the leftmost.", BIRDS, "(B)", 1),
    ("bbh_logical_deduction", "The answer is: The owl is the leftmost.", BIRDS, "(B)", 1),
    ("bbh_tracking", "At the end, Alice has it.\n\nSo the answer is (A).", BIRDS, "(A)", 1),
    ("zebra_logic", "\\boxed{Eric}", PEOPLE, "Eric", 1),
    ("zebra_logic", "**Answer:** Eric", PEOPLE, "Eric", 1),
    ("zebra_logic", "\\boxed{B}", PEOPLE, "Eric", 1),
    ("zebra_logic", "\\boxed{Peter}", PEOPLE, "Eric", 0),
    ("zebra_logic", "\\boxed{Eric or Peter}", PEOPLE, "Eric", 0),
    ("zebra_logic", "Eric lives in house 1 and Peter in house 2.", PEOPLE, "Eric", 0),
    ("zebra_logic", "\\boxed{2}", ("1", "2", "3"), "2", 1),
    ("sciq", "B. the nucleus", CELL, "B", 1),
    ("sciq", "B) the nucleus", CELL, "B", 1),
    ("sciq", "B. ribosomes", CELL, "B", 0),
    ("sciq", "(b)", CELL, "B", 1),
    ("sciq", "Answer: all of the above", CELL, "D", 1),
    ("sciq", "Answer: all of them", CELL, "D", 0),
    ("sciq", "The answer is a nucleus.", CELL, "A", 0),
    ("sciq", "Answer: B (90% sure)", CELL, "B", 1),
    ("sciq", "Answer: vitamin C", VITAMINS, "A", 1),
    ("sciq", "Answer: vitamin C", VITAMINS, "C", 0),
    ("sciq", "The answer is a catalyst.", ("enzyme", "a catalyst", "salt"), "B", 1),
    ("sciq", "The answer is a catalyst.", ("enzyme", "a catalyst", "salt"), "A", 0),
]  # fmt: skip

TWO = "Emma is a knight, and Liam is a knave."
THREE = "Emma is a knight, Liam is a knave, and Noah is a knight."
SAINTS = "Emma is a saint, and Liam is a sinner."
EIGHT = (
    "Ava is a knight, Ben is a knave, Cleo is a knave, Dan is a knight, Eve is a knight, "
    "Finn is a knave, Gus is a knight, and Hana is a knave."
)

LOGIC: list[tuple[str, str, int]] = [
    ("<think>\nIf Emma is a knave, no.\n</think>\n\n**Final Answer**\n\n"
     "Emma is a knight, Liam is a knave, and Noah is a knight.", THREE, 1),
    ("CONCLUSION:\n(1) Emma is a knight\n(2) Liam is a knave", TWO, 1),
    ("| Person | Role |\n|---|---|\n| Emma | Knight |\n| Liam | Knave |", TWO, 1),
    ("| Person | Role |\n|---|---|\n| Emma | Knave |\n| Liam | Knave |", TWO, 0),
    ("\\boxed{\\text{Emma is a knight, and Liam is a knave}}", TWO, 1),
    ("\\boxed{\\text{Emma} = \\text{Knight}, \\text{Liam} = \\text{Knave}}", TWO, 1),
    ("<answer>Emma is a knight, Liam is a knave</answer>", TWO, 1),
    ("Final Answer: Emma (knight), Liam (knave)", TWO, 1),
    ("Final answer: Emma - Knight; Liam - Knave", TWO, 1),
    ("**Knights:** Emma\n**Knaves:** Liam", TWO, 1),
    ("**Knights:** Liam\n**Knaves:** Emma", TWO, 0),
    ("Final answer: Emma and Noah are knights, while Liam is a knave.", THREE, 1),
    ("Final answer: Emma and Liam are knights, while Noah is a knave.", THREE, 0),
    ("Final answer: Only Liam is a knave; the others are knights.", THREE, 1),
    ("Final answer: Both are knights.", "Emma is a knight, and Liam is a knight.", 1),
    ("Final answer: Both are knights.", TWO, 0),
    ("Assume Emma is a knight. Then Liam is a knave. This is consistent.\n\nTherefore:\n"
     "- Emma is a knight.\n- Liam is a knave.", TWO, 1),
    ("Final answer: Emma is a knave, Liam is a knave.\n\nWait, that fails.\n\n"
     "Final answer: Emma is a knight, Liam is a knave.", TWO, 1),
    ("Final answer: Emma is a knight, Liam is a knave.\n\nWait, that fails.\n\n"
     "Final answer: Emma is a knave, Liam is a knave.", TWO, 0),
    ("### Final Answer\n\n1. **Emma**: Knight\n2. **Liam**: Knave\n\n"
     "This satisfies all statements.", TWO, 1),
    ("Final answer: Emma is a knight, and Liam is a knave.\n\n"
     "Let me know if you would like more detail!", TWO, 1),
    ("Emma is a knight.\nLiam is a knave.\n\nLet me know if anything is unclear!", TWO, 0),
    ("{\"Emma\": \"knight\", \"Liam\": \"knave\"}", TWO, 1),
    ("EMMA: KNIGHT, LIAM: KNAVE", TWO, 1),
    ("Final answer: Emma: Knight ✅ Liam: Knave ✅", TWO, 1),
    ("Final answer: Emma's a knight and Liam's a knave.", TWO, 1),
    ("Final answer: Emma is not a knave; Liam is not a knight.", TWO, 1),
    ("Final answer: Emma isn't a knight and Liam isn't a knave.", TWO, 0),
    ("Final answer: Emma is a knight (truth-teller), and Liam is a knave (liar).", TWO, 1),
    ("Final answer: Emma is a lying knight, and Liam is a knave.", TWO, 0),
    ("Final answer: Emma is a knight, and Liam is an honest knave.", TWO, 0),
    ("Final answer: Emma is an honest knight, and Liam is a lying knave.", TWO, 1),
    ("最终答案：Emma is a knight, and Liam is a knave.", TWO, 1),
    ("最终答案：Emma 是骑士，Liam 是无赖。", TWO, 0),
    ("Final answer: Emma is a knight, Liam is a", TWO, 0),
    ("Final answer: Emma is a knight.", TWO, 0),
    ("Final answer: Emma is a knight, Liam is a knave, Owen is a knave.", TWO, 0),
    ("Final answer: Emma is a knight, Liam is a knave. But it could be the other way round.",
     TWO, 0),
    ("Solution 1: Emma is a knight, Liam is a knave.\nSolution 2: Emma is a knave, Liam is a "
     "knight.", TWO, 0),
    ("Final answer: Emma is probably a knight, and Liam is a knave.", TWO, 0),
    ("Final answer: Either Emma is a knight and Liam is a knave, or they are both knaves.", TWO, 0),
    ("Liam said that Emma is a knight. So who is a knight and who is a knave?", TWO, 0),
    ("I cannot determine who is a knight and who is a knave.", TWO, 0),
    ("Final answer: it is false that Emma is a knight; Liam is a knave.", TWO, 0),
    ("Final answer: Emmaline is a knight, and Liam is a knave.", TWO, 0),
    ("Final answer: Emma is a knight, and Liam is a knave.", SAINTS, 0),
    ("Final answer: Emma is a saint, and Liam is a sinner.", SAINTS, 1),
    (f"Final answer: {EIGHT}", EIGHT, 1),
    ("Knights: Ava, Dan, Eve, Gus\nKnaves: Ben, Cleo, Finn, Hana", EIGHT, 1),
    ("Knights: Ava, Dan, Eve, Gus\nKnaves: Ben, Cleo, Finn", EIGHT, 0),
    (f"<think>Final answer: {EIGHT}", EIGHT, 0),
]  # fmt: skip


@pytest.mark.parametrize(("route", "response", "gold", "expected"), MATH)
def test_maths(route: str, response: str, gold: str, expected: int) -> None:
    verdict = routes.verify(f"dataflex/{route}", response, gold)
    assert verdict.score == expected, verdict


@pytest.mark.parametrize(("route", "response", "options", "gold", "expected"), CHOICE)
def test_choice(
    route: str, response: str, options: tuple[str, ...], gold: str, expected: int
) -> None:
    verdict = routes.verify(f"dataflex/{route}", response, gold, {"options": list(options)})
    assert verdict.score == expected, verdict


@pytest.mark.parametrize(("response", "gold", "expected"), LOGIC)
def test_logic(response: str, gold: str, expected: int) -> None:
    verdict = routes.verify("dataflex/kk_hard", response, gold)
    assert verdict.score == expected, verdict


def test_every_kind_of_verdict_is_asked_for() -> None:
    """Count the cases, so that a list cannot be emptied unseen."""
    verdicts = [case[-1] for case in (*MATH, *CHOICE, *LOGIC)]
    assert verdicts.count(0) > 90 < verdicts.count(1)
