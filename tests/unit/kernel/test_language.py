"""The language of a question, and texts that exist in both languages."""

from __future__ import annotations

import pytest

from diagnosis_harness.kernel.language import Language, Text, language_of


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("why is checkout slow?", Language.EN),
        ("为什么 checkout 变慢", Language.ZH),
        ("why is 结账 slow", Language.EN),
        ("结账 is slow", Language.ZH),
        ("the 结账 service is down since 09:30", Language.EN),
        ("why is 结账 慢", Language.EN),
        ("checkout 从 14:05 起为什么 slow, what is it", Language.ZH),
        ("warum ist die Kasse langsam?", Language.EN),
        ("", Language.EN),
    ],
)
def test_the_sentence_makes_the_language_and_no_name_in_it(question: str, language: Language) -> None:
    """Names in Latin script do not make a Chinese question English, nor Chinese names an English one."""
    assert language_of(question) is language


def test_a_text_is_written_in_the_language_asked_for() -> None:
    """Each language has its own text, and values fill the placeholders of either."""
    text = Text(en="{count} runs", zh="{count} 次运行")

    assert text.in_(Language.ZH) == "{count} 次运行"
    assert text.render(Language.EN, count=3) == "3 runs"
    assert text.render(Language.ZH, count=3) == "3 次运行"


def test_a_text_without_a_translation_cannot_be_built() -> None:
    """Both languages are required keywords."""
    with pytest.raises(TypeError):
        Text(en="only English")  # type: ignore[call-arg]  # the mistake that is tested
