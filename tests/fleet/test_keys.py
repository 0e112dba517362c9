"""Keys sign and are checked; a file that others can read, or that is none, is refused; nothing is overwritten."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from interpose.fleet.keys import BadKey, load_private, make_key, public_of, sign, verify


def test_a_signature_holds_for_its_key_its_domain_and_its_body_alone(tmp_path: Path) -> None:
    public = make_key(str(tmp_path / "a.key"))
    other = make_key(str(tmp_path / "b.key"))
    private = load_private(str(tmp_path / "a.key"))

    signature = sign(private, "rules", b"body")

    assert public_of(private) == public
    assert verify(public, "rules", b"body", signature)
    assert not verify(other, "rules", b"body", signature)
    assert not verify(public, "answers", b"body", signature)
    assert not verify(public, "rules", b"bodY", signature)
    assert not verify(public, "rules", b"\nbody", signature)


@pytest.mark.parametrize("signature", ["", "AAAA", "not base64!", "é", "A" * 88, "A" * 100_000])
def test_what_is_no_signature_is_false_and_raises_nothing(tmp_path: Path, signature: str) -> None:
    public = make_key(str(tmp_path / "a.key"))

    assert not verify(public, "rules", b"body", signature)
    assert not verify("ed25519:" + "A" * 44, "rules", b"body", signature)
    assert not verify("rsa:AAAA", "rules", b"body", signature)
    assert not verify("ed25519:short", "rules", b"body", signature)


def test_only_the_owner_can_read_a_new_key_and_no_key_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "below" / "a.key"
    make_key(str(path))
    before = path.read_bytes()

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(BadKey, match="not overwritten"):
        make_key(str(path))
    assert path.read_bytes() == before


def test_a_link_is_not_followed_when_a_key_is_made(tmp_path: Path) -> None:
    os.symlink(tmp_path / "elsewhere", tmp_path / "a.key")

    with pytest.raises(BadKey):
        make_key(str(tmp_path / "a.key"))

    assert not (tmp_path / "elsewhere").exists()


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.key"
    make_key(str(path))
    path.chmod(0o644)

    with pytest.raises(BadKey, match="chmod 600"):
        load_private(str(path))


def test_a_file_that_is_no_ed25519_key_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello")
    (tmp_path / "text").chmod(0o600)
    os.mkfifo(tmp_path / "fifo", 0o600)
    subprocess.run(
        ["openssl", "ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out", tmp_path / "ec"], check=True
    )
    (tmp_path / "ec").chmod(0o600)

    for name in ("text", "fifo", "ec", "missing"):
        with pytest.raises(BadKey):
            load_private(str(tmp_path / name))
