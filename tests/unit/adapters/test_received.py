"""What somebody sent becomes an incident folder: within limits, and nothing is written anywhere else."""

from __future__ import annotations

import gzip
import io
import resource
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.archives import METRICS, tar_of, zip_of

from diagnosis_harness.adapters.sources.incident_folder.received import lay_out
from diagnosis_harness.kernel.errors import InvalidInput, NoRoomForUpload

LIMIT_BYTES = 10_000_000


def lay_out_in(tmp_path: Path, content: bytes, name: str = "sent") -> tuple[set[str], tuple[str, ...]]:
    """The files that came of it, and the notes; nothing else has come into being around them."""
    sent, folder = tmp_path / "sent", tmp_path / "deep" / "er" / "incident"
    folder.parent.mkdir(parents=True)
    sent.write_bytes(content)
    notes = lay_out(sent, name, folder, unpacked_bytes_max=LIMIT_BYTES)
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    all_files = {path for path in tmp_path.rglob("*") if not path.is_dir()}
    assert all_files == {sent, *(folder / name for name in found)}
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    return found, notes


@pytest.mark.parametrize(
    ("content", "files"),
    [
        (zip_of({"metrics.csv": METRICS}), {"metrics.csv"}),
        (tar_of({"metrics.csv": METRICS}, mode="w"), {"metrics.csv"}),
        (tar_of({"metrics.csv": METRICS}, mode="w:bz2"), {"metrics.csv"}),
        (tar_of({"metrics.csv": METRICS}, mode="w:xz"), {"metrics.csv"}),
        (tar_of({"shop/metrics.csv": METRICS, "shop/logs.txt": "x"}), {"metrics.csv", "logs.txt"}),
        (tar_of({"a/b/metrics.csv": METRICS, "c/logs.txt": "x"}), {"metrics.csv", "logs.txt"}),
        (tar_of({"../../metrics.csv": METRICS}), {"metrics.csv"}),
        (tar_of({"/etc/cron.d/metrics.csv": METRICS}), {"metrics.csv"}),
        (zip_of({"..\\..\\metrics.csv": METRICS}), {"metrics.csv"}),
        (zip_of({"C:/metrics.csv": METRICS}), {"metrics.csv"}),
        (zip_of({"__MACOSX/._x": "x", ".git/config": "x", "metrics.csv": METRICS}), {"metrics.csv"}),
        (zip_of({"指标/指标.csv": METRICS, "logs.txt": "x"}), {"指标.csv", "logs.txt"}),
        (zip_of({"export.zip": "x", "metrics.csv": METRICS}), {"export.zip", "metrics.csv"}),
    ],
)
def test_files_keep_their_own_names_alone(tmp_path: Path, content: bytes, files: set[str]) -> None:
    """Whatever paths the archive says, they stay in the folder."""
    assert lay_out_in(tmp_path, content) == (files, ())


def test_links_devices_and_impossible_names_are_left_out_and_listed(tmp_path: Path) -> None:
    """The rest is kept; a link to a link leads nowhere either."""
    others = {
        "passwd.csv": (tarfile.SYMTYPE, "/etc/passwd"),
        "same.csv": (tarfile.LNKTYPE, "metrics.csv"),
        "null": (tarfile.CHRTYPE, ""),
        "disk": (tarfile.BLKTYPE, ""),
        "pipe": (tarfile.FIFOTYPE, ""),
    }
    files = {"metrics.csv": METRICS, "m" * 250: "x", "a\x01.csv": "x"}
    found, notes = lay_out_in(tmp_path, tar_of(files, others=others))
    assert found == {"metrics.csv"}
    assert sum("a link or a device" in note for note in notes) == len(others)
    assert sum("its name cannot be that of a file" in note for note in notes) == 2


def test_a_link_in_a_zip_archive_is_left_out(tmp_path: Path) -> None:
    """Its type is in the attributes of the entry."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        link = zipfile.ZipInfo("passwd.csv")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("metrics.csv", METRICS)
    found, notes = lay_out_in(tmp_path, content.getvalue())
    assert found == {"metrics.csv"}
    assert notes == ("passwd.csv: left out, it is a link or a device",)


def test_files_of_one_name_are_distinguished(tmp_path: Path) -> None:
    """In two folders, the second gets a number before its ending; one path twice is left out."""
    files = [(f"{name}/app.log.csv", METRICS) for name in ("cart", "shop", "cart")]
    found, notes = lay_out_in(tmp_path, tar_of(files))
    assert found == {"app.log.csv", "app-2.log.csv"}
    assert notes == (
        "cart/app.log.csv: left out, the archive holds another file of this name",
        "shop/app.log.csv: read as app-2.log.csv, another file has its name",
    )


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_chinese_names_that_do_not_say_their_encoding_are_read(tmp_path: Path, encoding: str) -> None:
    """As archives of macOS and of Windows in Chinese write them."""
    name = "指标".encode(encoding)
    content = zip_of({"z" * len(name) + ".csv": METRICS}).replace(b"z" * len(name), name)
    assert lay_out_in(tmp_path, content)[0] == {"指标.csv"}


def test_the_baseline_stays_in_its_folder(tmp_path: Path) -> None:
    """Its files are not mixed with those of the incident."""
    files = {
        "x/incident.toml": '[baseline]\nfolder = "before/normal"\n',
        "x/before/normal/metrics.csv": METRICS,
        "x/metrics.csv": METRICS,
        "x/logs/app.csv": METRICS,
    }
    found, _ = lay_out_in(tmp_path, tar_of(files))
    assert found == {"incident.toml", "before/normal/metrics.csv", "metrics.csv", "app.csv"}


@pytest.mark.parametrize("named", ["/etc", "../other", "..", "a/../../b", ".ssh", "."])
def test_a_baseline_outside_of_what_was_sent_is_refused(tmp_path: Path, named: str) -> None:
    """It would read a folder of the service's own machine."""
    files = {"metrics.csv": METRICS, "incident.toml": f'[baseline]\nfolder = "{named}"\n'}
    with pytest.raises(InvalidInput, match=r"incident.toml \(baseline.folder\): it is outside"):
        lay_out_in(tmp_path, tar_of(files))


@pytest.mark.parametrize("where", ["x/incident.toml", "x/y/incident.toml", "normal/x/incident.toml"])
def test_settings_below_the_top_of_what_was_sent_are_left_out(tmp_path: Path, where: str) -> None:
    """A file keeps its own name alone, so they would come to the top after the check of the baseline."""
    files = {"metrics.csv": METRICS, "a/b.csv": METRICS, where: '[baseline]\nfolder = "/etc"\n'}
    found, notes = lay_out_in(tmp_path, tar_of(files))
    assert found == {"metrics.csv", "b.csv"}
    assert notes == (f"{where}: left out, settings are read from the top of the archive alone",)


def test_the_settings_of_a_baseline_inside_stay_with_it(tmp_path: Path) -> None:
    """They say how its own files are read."""
    files = {
        "metrics.csv": METRICS,
        "incident.toml": '[baseline]\nfolder = "normal"\n',
        "normal/incident.toml": '[incident]\nzone = "Europe/Berlin"\n',
        "normal/metrics.csv": METRICS,
    }
    found, notes = lay_out_in(tmp_path, tar_of(files))
    assert found == {"metrics.csv", "incident.toml", "normal/incident.toml", "normal/metrics.csv"}
    assert notes == ()


def test_an_archive_inside_counts_as_it_is_unpacked(tmp_path: Path) -> None:
    """Whoever reads the folder unpacks it, so that it is no way around the limit; one that fits is kept."""
    names = {"metrics.csv": METRICS.encode(), "export.zip": _bomb()}
    with pytest.raises(InvalidInput, match="unpacks to more than 10 MB"):
        lay_out_in(tmp_path / "large", _zip_of_bytes(names))
    names["export.zip"] = zip_of({"more.csv": METRICS})
    assert lay_out_in(tmp_path / "small", _zip_of_bytes(names))[0] == {"metrics.csv", "export.zip"}


def _zip_of_bytes(files: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, inner in files.items():
            archive.writestr(name, inner)
    return content.getvalue()


def test_settings_sent_as_the_only_file_lead_nowhere(tmp_path: Path) -> None:
    """Without an archive around them they are checked as well."""
    with pytest.raises(InvalidInput, match="outside"):
        lay_out_in(tmp_path, b'[baseline]\nfolder = "/etc"\n', name="incident.toml")


def _bomb() -> bytes:
    return zip_of({"metrics.csv": "0" * (LIMIT_BYTES + 1)})


def _lying_bomb() -> bytes:
    """Its headers say that it holds a hundred bytes."""
    true = (LIMIT_BYTES + 1).to_bytes(4, "little")
    return _bomb().replace(true, (100).to_bytes(4, "little"))


def _header_bomb() -> bytes:
    """A tar archive that asks for a header of a gigabyte."""
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 1_000_000_000
    return gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + b"0" * 2_000_000)


def _bomb_that_nobody_reads() -> bytes:
    """Hidden files, which are not read, are counted as well."""
    return tar_of({".hidden": "0" * (LIMIT_BYTES + 20_000_000), "metrics.csv": METRICS})


def _many() -> bytes:
    return zip_of({f"{number}.csv": "x" for number in range(10_000)})


def _long_list() -> bytes:
    """A zip archive whose list of files alone would fill the memory."""
    whole = bytearray(zip_of({"metrics.csv": METRICS}))
    end = whole.rfind(b"PK\x05\x06")
    whole[end + 12 : end + 16] = (500_000_000).to_bytes(4, "little")
    return bytes(whole)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_bomb(), "it unpacks to more than 10 MB"),
        (_lying_bomb(), "not a complete archive"),
        (_header_bomb(), "not a complete archive"),
        (_bomb_that_nobody_reads(), "it unpacks to more than 10 MB"),
        (_many(), "it holds more than 1,000 files"),
        (_long_list(), "it lists too many files"),
        (zip_of({}), "holds no file"),
        (tar_of({}, others={"metrics.csv": (tarfile.SYMTYPE, "/etc/passwd")}), "holds no file"),
        *((whole[: len(whole) // 2], "not a complete archive") for whole in (zip_of({"m.csv": METRICS}),)),
        *(
            (whole[: len(whole) // 2], "not a complete archive")
            for whole in (tar_of({"m.csv": METRICS * 9}, mode=mode) for mode in ("w", "w:gz", "w:xz"))
        ),
    ],
    ids=range(12),
)
def test_what_passes_a_limit_or_is_damaged_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    """One sentence says what it is."""
    with pytest.raises(InvalidInput) as caught:
        lay_out_in(tmp_path, content)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "own"),
    [("metrics.csv", "metrics.csv"), ("../../etc/x.csv", "x.csv"), ("C:\\x\\指标.csv", "指标.csv")],
)
def test_one_file_keeps_its_own_name(tmp_path: Path, name: str, own: str) -> None:
    """Not that of a folder."""
    assert lay_out_in(tmp_path, METRICS.encode(), name) == ({own}, ())


def test_one_packed_file_is_not_an_archive(tmp_path: Path) -> None:
    """It is read as `metrics.csv.gz` in a folder is."""
    assert lay_out_in(tmp_path, gzip.compress(METRICS.encode()), "metrics.csv.gz")[0] == {"metrics.csv.gz"}


@pytest.mark.parametrize("name", ["", "..", "a/..", ".bashrc", "a\x00b", "x" * 300, "\ud800.csv"])
def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path, name: str) -> None:
    """One sentence says so."""
    with pytest.raises(InvalidInput, match="name: it is not the name of a file"):
        lay_out_in(tmp_path, METRICS.encode(), name)


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    """The operating system refuses to write more into one file, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    "content", [_bomb()[:-1] + b"\x00", tar_of({"m.csv": "0" * 200_000}), b"0" * 200_000]
)
def test_a_full_disk_is_named_as_what_it_is(tmp_path: Path, content: bytes) -> None:
    """Not reported as a damaged archive: the sender cannot fix it."""
    sent = tmp_path / "sent"
    sent.write_bytes(content)
    with files_of_at_most(100_000), pytest.raises(NoRoomForUpload):
        lay_out(sent, "m.csv", tmp_path / "incident", unpacked_bytes_max=LIMIT_BYTES)
