"""examples/run-to-figures.ipynb, from its first cell to its last."""
from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples/run-to-figures.ipynb"


def read_notebook() -> nbformat.NotebookNode:
    notebook: nbformat.NotebookNode = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def test_the_notebook_goes_from_a_run_to_figures(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIERED_RUN", str(run_folder))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    notebook = read_notebook()
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}
    figures = [name for name, shown in outputs.items() if any("image/png" in output.get("data", {}) for output in shown)]
    assert figures == ["conflict-figure", "training-figure", "score-figure"]
    assert "is plausible (probability" in outputs["predict"][0].text
    assert "cloze" in outputs["by-kind"][0].data["text/plain"]
    assert list(tmp_path.iterdir()) == []


def test_the_notebook_is_kept_without_outputs() -> None:
    for cell in read_notebook().cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None, cell.id
