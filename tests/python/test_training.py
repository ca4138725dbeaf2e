"""Small trainings."""

from __future__ import annotations

import pathlib

import pytest

import headscope as hs


def write_toy(folder: pathlib.Path) -> None:
    words = {"one": "eins", "two": "zwei", "three": "drei"}
    lines = [[list(words)[(i * k) % 3] for k in range(1, 2 + i % 5)] for i in range(200)]
    (folder / "toy.en").write_text("".join(" ".join(line) + "\n" for line in lines))
    (folder / "toy.de").write_text("".join(" ".join(words[word] for word in line) + "\n" for line in lines))


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("toy")
    write_toy(folder)
    return folder


def trainer(toy: pathlib.Path, name: str, steps: int, **options: object) -> hs.Trainer:
    config = {
        "model": {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "attention": {"heads": 2}},
        "training": {"steps": steps, "report_every": 5},
    }
    files = {"source": toy / "toy.en", "target": toy / "toy.de"}
    return hs.Trainer(toy / name, device="cpu", threads=1, config=config, **files, **options)  # type: ignore[arg-type]


def test_train(toy: pathlib.Path) -> None:
    with trainer(toy, "run", 20) as run:
        reports = [report for report in run if report.kind == "train"]
    assert [report.step for report in reports] == [5, 10, 15, 20]
    assert reports[-1].nll is not None and reports[0].nll is not None and reports[-1].nll < reports[0].nll
    assert run.ended["finished"] and run.ended["step"] == 20 and any("parameters" in note for note in run.notes)
    with run.model(devices="cpu") as model:
        assert isinstance(model, hs.Translator) and model.config["d_model"] == 32
        model.translate("one two")


def test_stop_and_leave(toy: pathlib.Path) -> None:
    with trainer(toy, "stopped", 100_000) as run:
        for report in run:
            if report.step >= 5:
                run.stop()
        assert not run.ended["finished"]
    with trainer(toy, "left", 100_000) as run:
        next(iter(run))
    with pytest.raises(hs.ClosedError):
        next(iter(run))


def test_a_callback(toy: pathlib.Path) -> None:
    seen: list[int] = []
    with trainer(toy, "called", 100_000) as run:

        def stop_soon(report: hs.Report) -> None:
            seen.append(report.step)
            if len(seen) == 2:
                run.stop()

        assert run.wait(stop_soon)["finished"] is False
        assert seen[:2] == sorted(seen[:2]) and len(seen) < 10
    with trainer(toy, "failed", 100_000) as run, pytest.raises(ZeroDivisionError):
        run.wait(lambda report: 1 / 0)


def test_refused(toy: pathlib.Path) -> None:
    with pytest.raises(hs.Error, match="d_modle"):
        hs.Trainer(toy / "x", source=toy / "toy.en", target=toy / "toy.de", config={"model": {"d_modle": 3}}).wait()
    with pytest.raises(hs.Error, match="nix"):
        hs.Trainer(toy / "y", source=toy / "nix.en", target=toy / "toy.de").wait()
    with pytest.raises(hs.InvalidError, match="tsak"):
        hs.Trainer(toy / "z", text=toy / "toy.en", tsak="causal")
    with pytest.raises(hs.InvalidError, match="JSON"):
        hs.Trainer(toy / "z", config={"model": object()})
