"""Certificates for tests: an authority, a server on loopback, and a client with a locked key."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

KEY_PASSWORD = "open sesame"


def write_certificates(folder: Path) -> None:
    """`ca.pem`, `server.pem` (key and chain), `client.pem`, `client.key` and `locked.key`."""
    folder.mkdir(parents=True, exist_ok=True)
    authority = _key()
    root = _certificate("authority", authority, "authority", authority)
    _write(folder / "ca.pem", _pem(root))
    server, client = _key(), _key()
    chain = _pem(_certificate("server", server, "authority", authority))
    _write(folder / "server.pem", _private(server), chain)
    _write(folder / "client.pem", _pem(_certificate("client", client, "authority", authority)))
    _write(folder / "client.key", _private(client))
    _write(folder / "locked.key", _private(client, KEY_PASSWORD))


def _key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def _certificate(
    name: str, key: RSAPrivateKey, issuer: str, authority: RSAPrivateKey
) -> x509.Certificate:
    now = datetime.now(UTC)
    loopback = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    return (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.BasicConstraints(name == issuer, None), critical=True)
        .add_extension(loopback, critical=False)
        .sign(authority, hashes.SHA256())
    )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _private(key: RSAPrivateKey, password: str | None = None) -> bytes:
    lock = NoEncryption() if password is None else BestAvailableEncryption(password.encode())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock)


def _write(path: Path, *parts: bytes) -> None:
    path.write_bytes(b"".join(parts))
