"""The module against a real run, and what it does with the program's errors and warnings."""
from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import fake_program

import tiered
from tiered import _program

ENTITIES = ["Rosa", "kettle"]
FILLED = ["Rosa filled the kettle.", "Rosa switched the kettle on."]
Stand = Callable[[str], None]
UNPLUGGED = ["Rosa unplugged the kettle.", "Rosa switched the kettle on."]


@pytest.fixture(scope="module")
def run(run_folder: Path) -> tiered.Run:
    return tiered.load_run(run_folder)


def test_stories_pairs_and_dicts_are_answered_in_their_order(run: tiered.Run) -> None:
    as_dict = {"sentences": UNPLUGGED, "entities": ENTITIES}
    answers = run.predict([UNPLUGGED, (FILLED, UNPLUGGED), as_dict, [as_dict, FILLED]], entities=ENTITIES)
    assert [answer["line"] for answer in answers] == [0, 1, 2, 3]
    assert [[s["text"] for s in story["sentences"]] for story in answers[1]["stories"]] == [FILLED, UNPLUGGED]
    single, pair, same_single, turned = answers
    assert single["plausible"] is None and 0.5 <= single["single_story"]["probability"] <= 1
    assert {**same_single, "line": 0} == single
    assert pair["plausible"] is not None and turned["plausible"] is not None
    assert pair["plausible"]["story"] == 1 - turned["plausible"]["story"]
    for answer in answers:
        assert answer["decode"] == "pair"
        assert all(state["entity"] in ENTITIES for state in answer["states"])


def test_sentences_with_the_line_separators_of_unicode_are_answered(run: tiered.Run) -> None:
    (answer,) = run.predict([[*UNPLUGGED[:-1], f"{UNPLUGGED[-1]}\u2028\u2029"]], entities=ENTITIES)
    assert len(answer["stories"][0]["sentences"]) == len(UNPLUGGED)


def test_a_storys_own_entities_come_first(run: tiered.Run) -> None:
    own = {"sentences": UNPLUGGED, "entities": ["kettle"]}
    alone = run.predict([own])
    assert run.predict([own], entities=["Rosa", "lamp"]) == alone
    without = {"sentences": UNPLUGGED, "entities": []}
    assert run.predict([without], entities=["kettle"]) == alone


def test_options_reach_the_program(run_folder: Path) -> None:
    by_threshold = tiered.load_run(
        run_folder, weights="last", device="cpu", precision="bf16", decode="threshold", states="0.7+top1"
    )
    (answer,) = by_threshold.predict([(FILLED, UNPLUGGED)], entities=ENTITIES)
    assert answer["decode"] == "threshold"
    once, augmented = (
        tiered.load_run(run_folder, augment=augment).predict([([*FILLED, FILLED[0]], UNPLUGGED)], entities=ENTITIES)
        for augment in (False, True)
    )
    assert once[0]["plausible"]["probability"] != augmented[0]["plausible"]["probability"]
    with pytest.raises(ValueError, match="invalid value 'most'"):
        tiered.load_run(run_folder, states="most").predict([FILLED], entities=ENTITIES)


def test_entities_that_nobody_names_are_found(run: tiered.Run) -> None:
    (answer,) = run.predict([FILLED])
    (story,) = answer["stories"]
    assert story["entities_found"] and ENTITIES[0] in story["entities"]


def test_no_stories_no_answers(run: tiered.Run) -> None:
    assert run.predict([]) == []


def test_the_programs_errors_become_value_errors(run: tiered.Run) -> None:
    with pytest.raises(ValueError, match=r"^standard input, line 2: story 1 names no entities, and none were found"):
        run.predict([{"sentences": FILLED, "entities": ENTITIES}, ["It.", "She."]])
    with pytest.raises(ValueError, match="unknown field `entitys`"):
        run.predict([{"sentences": FILLED, "entitys": ENTITIES}])
    with pytest.raises(ValueError, match="line 1"):
        run.predict([(FILLED, UNPLUGGED, FILLED)], entities=ENTITIES)


def test_a_warning_before_an_error_stays_a_warning(run: tiered.Run) -> None:
    titled = {"sentences": ["Title", "Rosa drank tea."], "entities": ["Rosa"]}
    alone = {"sentences": ["Rosa drank tea."], "entities": ["Rosa"]}
    with pytest.warns(UserWarning, match="line 1: "), pytest.raises(ValueError, match=r"^standard input, line 2: "):
        run.predict([titled, alone])


@pytest.mark.parametrize("wrong", ["Rosa filled the kettle.", 7, [FILLED, 7], [[FILLED]]])
def test_what_is_no_story_is_a_type_error(run: tiered.Run, wrong: object) -> None:
    with pytest.raises(TypeError, match="a story is a list of sentences, or a dict"):
        run.predict([wrong], entities=ENTITIES)  # type: ignore[list-item]


def test_entities_are_a_list(run: tiered.Run) -> None:
    with pytest.raises(TypeError, match="entities is a list of names, not 'Rosa, kettle'"):
        run.predict([[FILLED, UNPLUGGED, FILLED]], entities="Rosa, kettle")


def test_a_folder_without_a_run_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="not a run folder"):
        tiered.load_run(tmp_path)


def test_predictions_are_a_table_of_the_files_fields(predictions_file: Path) -> None:
    table = tiered.read_predictions(predictions_file)
    lines = [json.loads(line) for line in predictions_file.read_text().splitlines()]
    assert len(table) == len(lines) == 80
    assert set(table.columns) == set(lines[0]) - {"schema_version"}
    assert list(table["id"]) == [line["id"] for line in lines]
    assert list(table["story_probs"]) == [line["story_probs"] for line in lines]


def test_scores_agree_with_the_table(predictions_file: Path) -> None:
    table = tiered.read_predictions(predictions_file)
    accurate = table["plausible"] == table["gold_plausible"]
    consistent = accurate & (table["conflict"] == table["gold_conflict"])
    row = tiered.score(predictions_file)["rows"][0]
    assert row["decoding"] == "as recorded"
    assert row["accuracy"]["count"] == accurate.sum()
    assert row["consistency"]["count"] == consistent.sum()
    assert row["accuracy"]["total"] == len(table)


def test_scores_of_several_ways_and_files(predictions_file: Path) -> None:
    def states(*ways: str) -> set[str]:
        return {row["states"] for row in tiered.score(predictions_file, states=ways)["rows"]}

    assert states() == states("argmax") == {"argmax"}
    assert states("argmax", "0.95+top1") == {"argmax", "0.95+top1"}
    assert tiered.score(predictions_file, states="0.7") == tiered.score(predictions_file, states=["0.7"])
    with pytest.raises(ValueError, match="scores are published for 122 pairs"):
        tiered.score(predictions_file, published="gita-order")
    with pytest.raises(ValueError, match="name each file once"):
        tiered.score(predictions_file, predictions_file)


def test_files_that_are_no_predictions(tmp_path: Path) -> None:
    file = tmp_path / "predictions.jsonl"
    with pytest.raises(FileNotFoundError):
        tiered.score(file)
    with pytest.raises(FileNotFoundError):
        tiered.read_predictions(file)
    for text, message in [
        ('{"schema_version": 1}\n', "line 1: not a prediction"),
        ('{"schema_version": 2, "story_probs": []}\n', "schema_version 2, but this tiered reads 1; update tiered"),
        ("nonsense\n", "line 1: not JSON"),
        ("[]\n", "a JSON object should stand here"),
        ("\n", "contains no predictions"),
    ]:
        file.write_text(text)
        with pytest.raises(ValueError, match=message):
            tiered.read_predictions(file)
    file.write_text("nonsense\n")
    with pytest.raises(ValueError, match="predictions.jsonl"):
        tiered.score(file)


def test_without_pandas_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "tiered\[pandas\]"'):
        tiered.read_predictions(tmp_path / "predictions.jsonl")


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    def write(script: str) -> None:
        monkeypatch.setattr(_program, "PROGRAM", fake_program(tmp_path / "program", script))

    return write


def test_warnings_of_the_program_become_pythons(stand_in: Stand) -> None:
    stand_in("echo 'warning: little better than chance' >&2; echo '{\"schema_version\": 1}'")
    with pytest.warns(UserWarning, match="little better than chance") as caught:
        assert tiered.score("any") == {"schema_version": 1}
    assert len(caught) == 1


def test_other_errors_keep_their_exit_code(stand_in: Stand) -> None:
    stand_in("echo 'error: no GPU here' >&2; exit 69")
    with pytest.raises(tiered.ProgramError, match="^no GPU here$") as raised:
        tiered.score("any")
    assert raised.value.exit_code == 69
    stand_in("kill -9 $$")
    with pytest.raises(tiered.ProgramError, match="exit code -9 and said nothing"):
        tiered.score("any")


def test_an_answer_too_few_is_an_error(stand_in: Stand, tmp_path: Path) -> None:
    (tmp_path / "model.json").touch()
    stand_in("echo '{\"schema_version\": 1, \"line\": 0}'")
    with pytest.raises(RuntimeError, match="1 answers to 2 questions"):
        tiered.load_run(tmp_path).predict([FILLED, FILLED], entities=ENTITIES)
