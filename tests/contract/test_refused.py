"""A question that is refused is told what to ask instead: in one sentence, for every kind of SQL that people try."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet

RELEASE = Path(__file__).parents[1] / "golden" / "buckets-optimal" / "release"  # age, visits, gender, postcode, disease
QUOTES = "SQL reads double quotes as the name of a column; texts stand in single quotes"
REFUSED = {
    'disease = "Flu"': f"column Flu does not exist: {QUOTES}: disease = 'Flu'",
    'disease = "Flue"': f"{QUOTES}: disease = 'Flue'",
    '"HIV" <> disease': f"{QUOTES}: disease = 'HIV'",
    'disease IN ("Flu", "HIV")': f"{QUOTES}: disease = 'Flu'",
    'disease LIKE "F%"': f"{QUOTES}: 'F%'",
    'disease = "O\'Brien"': "disease = 'O''Brien'",
    "disease = Flu": "column Flu does not exist; texts stand in single quotes: disease = 'Flu'",
    "disease = “Flu”": "texts stand in single quotes: disease = 'Flu'",
    "\"gendre\" = 'F'": "column gendre does not exist; did you mean gender?",
    "gendre = 'F'": "column gendre does not exist; did you mean gender?",
    "nothing > 3": "column nothing does not exist; there is age, visits, gender, postcode, disease",
    "CASE WHEN age > 30 THEN 1 ELSE 0 END = 1": "CASE cannot be answered; ask one question for each branch",
    "if(age > 30, 1, 0) = 1": "CASE cannot be answered; ask one question for each branch",
    "SELECT SUM(disease) FROM release": "disease holds text, so it has no SUM; say COUNT(*) ... GROUP BY it",
    "SELECT AVG(age + 1) FROM release": "AVG must be of one column, such as AVG(age)",
    "SELECT AVG(ages) FROM release": "did you mean age?",
    "SELECT SUM(DISTINCT age) FROM release": "SUM must be of one column",
    "SELECT MAX(age) FROM release": "MAX cannot be answered",
    "SELECT AVG(age), COUNT(*) FROM release": "SELECT must list one figure, such as COUNT(*) or AVG(age), once",
    "SELECT COUNT(*) FILTER (WHERE ages > 3) FROM release": "did you mean age?",
    "SELECT 1 + 1 FROM release": "rows are not answered",
    "SELECT age // 10, COUNT(*) FROM release": "add the same to GROUP BY",
    "SELECT COUNT(*) FROM release GROUP BY age // 0": "must divide a column by a whole number from 1",
    "SELECT COUNT(*) FROM release GROUP BY disease // 2": "disease does not hold whole numbers",
    "SELECT COUNT(*) FROM release GROUP BY CASE age WHEN 1 THEN 'a' END": "CASE must have conditions",
    "SELECT COUNT(*) FROM release GROUP BY CASE WHEN age > 3 THEN age END": "THEN and ELSE must be followed by",
    "SELECT COUNT(age) FROM release": "say COUNT(*) ... WHERE it IS NOT NULL",
    "SELECT COUNT(DISTINCT age) FROM release": "GROUP BY it and count the groups",
    "SELECT * FROM release": "ask SELECT COUNT(*) FROM release WHERE ...",
    "SELECT age FROM release": "add GROUP BY age",
    "SELECT DISTINCT age FROM release": "say GROUP BY with the columns whose values you want",
    "SELECT COUNT(*) FROM release JOIN other ON other.age = release.age": "--aux NAME=FILE",
    "SELECT COUNT(*) FROM release, other": "--aux NAME=FILE",
    "SELECT COUNT(*) FROM (SELECT * FROM release)": "FROM must be followed by one plain name",
    "WITH a AS (SELECT 1) SELECT COUNT(*) FROM a": "WITH cannot be answered; write its conditions into WHERE",
    "SELECT COUNT(*) FROM release UNION SELECT 1": "with --questions",
    "SELECT COUNT(*) FROM release GROUP BY age HAVING COUNT(*) > 3": "take the groups that you want from the answer",
    "SELECT COUNT(*) FROM release GROUP BY age ORDER BY age": "groups come in the order of the domains",
    "SELECT COUNT(*) FROM release LIMIT 3": "LIMIT cannot be answered; leave it out",
    "gender = 'F' GROUP BY gender": "ask a whole SELECT COUNT(*) FROM release WHERE ... GROUP BY ...",
    "age > (SELECT AVG(age) FROM release)": "ask it by itself and write the number",
    "EXISTS (SELECT 1 FROM other)": "--aux NAME=FILE",
    "age IN (SELECT years FROM other)": "say --aux other=FILE",
    "lower(gender) = 'f'": "LOWER cannot be answered; use LIKE, or list the values that you mean",
    "gender ILIKE 'f'": "ILIKE cannot be answered; use LIKE",
    "regexp_matches(gender, 'F')": "use LIKE, or list the values that you mean",
    "gender || disease = 'FFlu'": "compare each column by itself",
    "CAST(age AS TEXT) = '30'": "whole numbers stand without quotes and texts in single quotes",
    "coalesce(age, 0) = 0": "say column IS NULL OR column = ...",
    "year(age) = 2000": "YEAR cannot be answered; a value must be a column, a constant, or arithmetic on these",
    "no_such_function(age) = 1": "NO_SUCH_FUNCTION cannot be answered; a value must be a column",
    "18 < age < 30": "write age >= 18 AND age < 30",
    "gender == 'F' && age > 30": "with AND between the two",
    "age": "a column alone cannot be answered; compare it with something",
    "age + 3": "a value alone cannot be answered",
    "COUNT(*) > 3": "COUNT inside a condition cannot be answered",
}


@pytest.mark.parametrize(("question", "words"), REFUSED.items())
def test_a_refusal_says_what_to_ask_instead(question, words):
    """One sentence; `check` says the same without answering."""
    with discreet.open_release(RELEASE) as release:
        with pytest.raises(discreet.QueryError) as refused:
            release.query(question)
        with pytest.raises(discreet.QueryError) as checked:
            release.check(question)
    assert words in str(refused.value)
    assert str(refused.value) == str(checked.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "question",
    [
        "disease = 'Flu'",
        '"disease" = \'Flu\' AND "age" > 30',
        "SELECT COUNT(*) FROM release GROUP BY gender",
        "TRUE",
        "",
    ],
)
def test_what_is_checked_is_answered(question):
    """Column names may stand in double quotes, as ever."""
    with discreet.open_release(RELEASE) as release:
        release.check(question)
        assert release.query(question)


def test_several_answers_are_those_one_by_one():
    """In their order, with and without GROUP BY."""
    asked = ["age > 40", "SELECT COUNT(*) FROM release WHERE age > 40 GROUP BY disease", "", "disease = 'HIV'"]
    with discreet.open_release(RELEASE) as release:
        assert release.query_many(asked) == [release.query(each) for each in asked]
        assert release.query_many([]) == []
        with pytest.raises(discreet.QueryError, match="ages"):
            release.query_many(["age > 40", "ages > 40"])
