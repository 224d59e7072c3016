"""The form of a question is read where its words leave no doubt; else it asks for the cause."""

from __future__ import annotations

import pytest

from diagnosis_harness.diagnosis.names import KnownNames, read_names
from diagnosis_harness.diagnosis.question_form import FormRead, QuestionForm, Topic, read_form

KNOWN = KnownNames.of(["checkout", "payments", "payments-db", "支付", "订单"])
WHY, CONFIRM = QuestionForm.WHY, QuestionForm.CONFIRM
CHANGE, HEALTH = QuestionForm.CONFIRM_CHANGE, QuestionForm.HEALTH


@pytest.mark.parametrize(
    ("question", "form", "subject"),
    [
        ("Why is checkout slow?", WHY, None),
        ("what is the cause of the errors of checkout?", WHY, None),
        ("checkout is slow since 14:05", WHY, None),
        ("为什么 checkout 变慢", WHY, None),
        ("什么导致 checkout 变慢？", WHY, None),
        ("Is payments-db the cause?", CONFIRM, "payments-db"),
        ("is payments-db to blame for checkout being slow?", CONFIRM, "payments-db"),
        ("could payments-db be the root cause", CONFIRM, "payments-db"),
        ("payments-db 是不是原因？", CONFIRM, "payments-db"),
        ("是不是 payments-db 导致的", CONFIRM, "payments-db"),
        ("was it the deploy?", CHANGE, None),
        ("Was it the deploy of payments?", CHANGE, "payments"),
        ("did the release of payments cause this?", CHANGE, "payments"),
        ("是发布导致的吗", CHANGE, None),
        ("is checkout healthy?", HEALTH, "checkout"),
        ("Is checkout slow?", HEALTH, "checkout"),
        ("are payments ok now?", HEALTH, "payments"),
        ("checkout 正常吗", HEALTH, "checkout"),
        ("is everything healthy?", HEALTH, None),
        ("is everything fine?", HEALTH, None),
        ("any problems?", HEALTH, None),
        ("一切正常吗", HEALTH, None),
        ("are you ok?", WHY, None),
        ("did checkout have an outage?", HEALTH, "checkout"),
        ("was there an outage of checkout?", HEALTH, "checkout"),
        ("did checkout slow down at 14:05?", HEALTH, "checkout"),
        ("was checkout down between 12:17 and 12:30?", HEALTH, "checkout"),
        ("has checkout recovered?", HEALTH, "checkout"),
        ("订单挂了吗", HEALTH, "订单"),
        ("did the deploy of payments break it?", CHANGE, "payments"),
        ("did checkout break because of the payments release?", CHANGE, "payments"),
        ("payments 的发布搞坏了订单吗", CHANGE, "payments"),
        ("did payments break checkout?", CONFIRM, "payments"),
        ("was checkout broken by payments?", CONFIRM, "payments"),
        ("is checkout failing because payments is slow?", CONFIRM, "payments"),
    ],
)
def test_a_question_has_one_form(question: str, form: QuestionForm, subject: str | None) -> None:
    """Also in Chinese; a question for the cause is never read as one that asks to confirm a cause."""
    assert read_form(question, read_names(question, KNOWN)) == FormRead(form, subject)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("checkout or payments?", FormRead(QuestionForm.COMPARE, "checkout", "payments")),
        ("is it checkout or payments?", FormRead(QuestionForm.COMPARE, "checkout", "payments")),
        ("compare payments and checkout", FormRead(QuestionForm.COMPARE, "payments", "checkout")),
        ("checkout vs payments", FormRead(QuestionForm.COMPARE, "checkout", "payments")),
        (
            "which one is slower, checkout or payments?",
            FormRead(QuestionForm.COMPARE, "checkout", "payments"),
        ),
        ("支付和订单哪个有问题", FormRead(QuestionForm.COMPARE, "支付", "订单")),
        ("是订单还是支付的问题？", FormRead(QuestionForm.COMPARE, "订单", "支付")),
        ("对比支付和订单", FormRead(QuestionForm.COMPARE, "支付", "订单")),
        ("before and after 14:00", FormRead(QuestionForm.COMPARE_TIMES)),
        (
            "what differs for checkout before and after 14:00?",
            FormRead(QuestionForm.COMPARE_TIMES, "checkout"),
        ),
        ("14:00 前后订单有什么不同", FormRead(QuestionForm.COMPARE_TIMES, "订单")),
        ("what changed before 14:05?", FormRead(QuestionForm.SHOW, topic=Topic.CHANGES)),
        (
            "what was deployed to payments until 14:05?",
            FormRead(QuestionForm.SHOW, "payments", topic=Topic.CHANGES),
        ),
        ("when did it start?", FormRead(QuestionForm.WHEN)),
        ("Since when is checkout failing?", FormRead(QuestionForm.WHEN, "checkout")),
        ("what time did payments fail?", FormRead(QuestionForm.WHEN, "payments")),
        ("订单什么时候开始变慢？", FormRead(QuestionForm.WHEN, "订单")),
        ("what do the logs of payments say?", FormRead(QuestionForm.SHOW, "payments", topic=Topic.LOGS)),
        ("what's in the logs?", FormRead(QuestionForm.SHOW, topic=Topic.LOGS)),
        ("show me the errors of checkout", FormRead(QuestionForm.SHOW, "checkout", topic=Topic.ERRORS)),
        ("list the changes of payments", FormRead(QuestionForm.SHOW, "payments", topic=Topic.CHANGES)),
        ("show the latency of checkout", FormRead(QuestionForm.SHOW, "checkout", topic=Topic.LATENCY)),
        ("show me checkout", FormRead(QuestionForm.SHOW, "checkout", topic=Topic.ANY)),
        ("get me the logs of payments", FormRead(QuestionForm.SHOW, "payments", topic=Topic.LOGS)),
        ("find errors in checkout", FormRead(QuestionForm.SHOW, "checkout", topic=Topic.ERRORS)),
        ("list the errors of checkout, if any", FormRead(QuestionForm.SHOW, "checkout", topic=Topic.ERRORS)),
        ("看看订单的日志", FormRead(QuestionForm.SHOW, "订单", topic=Topic.LOGS)),
        ("支付的日志说了什么？", FormRead(QuestionForm.SHOW, "支付", topic=Topic.LOGS)),
        ("给我看订单的错误", FormRead(QuestionForm.SHOW, "订单", topic=Topic.ERRORS)),
        ("and the database?", FormRead(QuestionForm.FOLLOW_UP, "payments-db")),
        ("what about payments?", FormRead(QuestionForm.FOLLOW_UP, "payments")),
        ("那数据库呢?", FormRead(QuestionForm.FOLLOW_UP, "payments-db")),
        ("订单呢？", FormRead(QuestionForm.FOLLOW_UP, "订单")),
    ],
)
def test_a_question_for_what_was_recorded_is_read_as_one(question: str, expected: FormRead) -> None:
    """Side by side, before and after, when, what was written, and the question before about another one."""
    assert read_form(question, read_names(question, KNOWN)) == expected


@pytest.mark.parametrize(
    "question",
    [
        "show me why checkout is slow",
        "why did checkout fail when payments was deployed?",
        "and why is checkout slow?",
        "find the cause of the errors of checkout",
        "what changed?",
        "find out what is wrong with checkout since 13:00",
        "get me the reason checkout is slow since 13:00",
        "see if checkout is broken since 13:00",
        "see whether checkout has errors",
        "find checkout",
        "show me what is wrong with checkout",
        "give me the reason for the errors of checkout",
        "看看订单从 13:00 起出了什么问题",
        "查一下支付是不是坏了",
        "给我看看订单怎么了",
        "找出订单报错的原因",
        "为什么 14:00 前后订单变慢了？",
        "checkout fails when payments is slow",
    ],
)
def test_a_question_for_the_cause_stays_one(question: str) -> None:
    """Whatever else it mentions."""
    assert read_form(question, read_names(question, KNOWN)).form is QuestionForm.WHY


def test_both_sides_of_a_comparison_in_chinese_are_names() -> None:
    """Also if they are unknown, so that the answer can name each of them."""
    read = read_names("库存和物流哪个有问题", KNOWN)

    assert [(each.written, each.name) for each in read] == [("库存", None), ("物流", None)]
