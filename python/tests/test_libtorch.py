"""Which folders the loader is shown, and what is said where something is missing."""
from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest
from fakes import fake_torch

from tiered import _libtorch
from tiered._libtorch import SetupError, environment, library_folders


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of packages, before all others on the path of imports."""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def nothing_but(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes away the packages that are really installed."""
    monkeypatch.setattr(sys, "path", [str(site)])


def test_the_torch_of_this_python_is_found_and_not_imported(site: Path) -> None:
    torch = fake_torch(site)
    assert library_folders() == [torch / "lib"]
    assert "torch" not in sys.modules


def test_a_torch_for_cuda_brings_nvidias_folders_from_wherever_they_are(
    site: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    nothing_but(site, monkeypatch)
    monkeypatch.syspath_prepend(str(elsewhere))
    torch = fake_torch(site, "2.13.0+cu130", cuda=True)
    for folder in (site / "nvidia/cudnn/lib", site / "nvidia/cudnn/include", elsewhere / "nvidia/cu13/lib"):
        folder.mkdir(parents=True)
    assert library_folders() == [torch / "lib", elsewhere / "nvidia/cu13/lib", site / "nvidia/cudnn/lib"]


def test_a_torch_for_the_cpu_brings_no_folder_of_nvidia(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_but(site, monkeypatch)
    torch = fake_torch(site)
    (site / "nvidia/cudnn/lib").mkdir(parents=True)
    assert library_folders() == [torch / "lib"]


def test_a_torch_for_cuda_without_nvidias_packages_is_left_to_the_loader(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_but(site, monkeypatch)
    torch = fake_torch(site, cuda=True)
    assert library_folders() == [torch / "lib"]


def test_libtorch_comes_before_what_the_user_set(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = fake_torch(site)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/one:/opt/two")
    monkeypatch.setenv("OTHER", "kept")
    variables = environment()
    assert variables["LD_LIBRARY_PATH"] == f"{torch / 'lib'}:/opt/one:/opt/two"
    assert variables["OTHER"] == "kept"


@pytest.mark.parametrize("before", [None, ""])
def test_an_empty_entry_would_mean_the_current_folder(
    site: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    torch = fake_torch(site)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    if before is not None:
        monkeypatch.setenv("LD_LIBRARY_PATH", before)
    assert environment()["LD_LIBRARY_PATH"] == str(torch / "lib")


def test_without_torch_the_message_says_what_to_install(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_but(site, monkeypatch)
    with pytest.raises(SetupError, match=r'not installed for .*python.*\n    pip install "torch==2\.13\.\*"'):
        library_folders()


def test_a_folder_that_happens_to_be_called_torch_is_no_torch(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_but(site, monkeypatch)
    (site / "torch").mkdir()
    with pytest.raises(SetupError, match="PyTorch is not installed"):
        library_folders()


@pytest.mark.parametrize("version", ["2.12.1", "2.130.0", "3.0.0", "2.14.0.dev20270101+cu130"])
def test_another_torch_is_refused(site: Path, version: str) -> None:
    torch = fake_torch(site, version)
    with pytest.raises(SetupError) as raised:
        library_folders()
    assert str(raised.value) == (
        f"tiered needs PyTorch 2.13, and {torch} is PyTorch {version}. Install the other version:\n"
        '    pip install "torch==2.13.*"'
    )


@pytest.mark.parametrize("missing", ["lib/libtorch.so", "version.py"])
def test_half_a_torch_is_refused(site: Path, missing: str) -> None:
    (fake_torch(site) / missing).unlink()
    with pytest.raises(SetupError, match="pip install"):
        library_folders()


def test_a_version_file_without_a_version_is_refused(site: Path) -> None:
    (fake_torch(site) / "version.py").write_text("cuda = None\n")
    with pytest.raises(SetupError, match="is PyTorch unknown"):
        library_folders()


@pytest.mark.parametrize(("system", "machine"), [("darwin", "arm64"), ("linux", "aarch64"), ("win32", "AMD64")])
def test_other_platforms_are_refused(monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    with pytest.raises(SetupError, match=rf"for x86-64 Linux, and this is .* on {machine}.*Build tiered from its source"):
        library_folders()


def test_the_package_asks_pip_for_the_torch_that_it_accepts() -> None:
    from importlib.metadata import requires

    assert f"torch=={_libtorch.TORCH}.*" in (requires("tiered") or [])
