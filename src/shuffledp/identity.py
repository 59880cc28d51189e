"""Identity of a protocol, carried by everything that the protocol produces.

Reports, shuffled reports, tallies, estimates and guarantees carry it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shuffledp.arguments import expect_mapping
from shuffledp.errors import InvalidInputError
from shuffledp.stored_state import class_name, is_ours, stored_state
from shuffledp.types import Mode

_KEYS = {"statistic", "mechanism", "parameters", "mode"}


@dataclass(frozen=True)
class Identity:
    """A protocol by its statistic, mechanism, parameters and mode.

    Build one with `Identity.of`. Equal identities have equal digests, and the reverse.

    >>> import shuffledp as sdp
    >>> identity = sdp.Frequency(4).identity
    >>> identity.record["mechanism"], identity.record["parameters"]
    ('kary-response', {'categories': 4})
    >>> identity == sdp.Frequency(5).identity
    False

    Attributes:
        text: All of it as JSON with sorted keys and no spaces.
    """

    text: str

    @classmethod
    def of(
        cls,
        statistic: str,
        mechanism: str,
        parameters: Mapping[str, Any],
        mode: Mode,
    ) -> "Identity":
        """Returns the identity of a protocol.

        >>> print(Identity.of("frequency", "kary-response", {"categories": 9}, "agnostic"))
        frequency by kary-response (categories 9), agnostic

        Args:
            statistic: The name of the estimated statistic.
            mechanism: The name of the devices' mechanism.
            parameters: Public ones of both, of JSON's types, finite.
            mode: "agnostic" or "stratified".

        Raises:
            InvalidInputError: If a parameter is not of JSON's types.
        """
        record = {
            "statistic": statistic,
            "mechanism": mechanism,
            "parameters": expect_mapping(parameters, "parameters by name"),
            "mode": mode,
        }
        return cls.from_record(record)

    @classmethod
    def from_record(cls, record: object) -> "Identity":
        """Returns the identity with this `record`.

        Raises:
            InvalidInputError: If it is not the record of an identity.
        """
        if not isinstance(record, dict) or set(record) != _KEYS:
            raise InvalidInputError(
                f"Expected a protocol as {', '.join(sorted(_KEYS))}."
            )
        names = (record["statistic"], record["mechanism"])
        if not all(isinstance(name, str) for name in names):
            raise InvalidInputError("Expected names of a statistic and a mechanism.")
        check_mode(record["mode"])
        if not isinstance(record["parameters"], dict):
            raise InvalidInputError("Expected parameters by their names.")
        try:
            # Canonical, so that equal identities have equal digests.
            text = json.dumps(
                record, sort_keys=True, separators=(",", ":"), allow_nan=False
            )
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInputError(
                "Expected parameters that are numbers, texts or lists of them: a "
                "protocol must be identified by what it was made from."
            ) from error
        return cls(text)

    @property
    def record(self) -> dict[str, Any]:
        """Statistic, mechanism, parameters and mode, as plain values."""
        # A new object for each caller: changes to it do not reach the identity.
        record: dict[str, Any] = json.loads(self.text)
        return record

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def __str__(self) -> str:
        record = self.record
        parts = _parameter_texts(record["parameters"])
        within = f" ({', '.join(parts)})" if parts else ""
        return (
            f"{record['statistic']} by {record['mechanism']}{within}, {record['mode']}"
        )


def described(device: Any) -> dict[str, Any]:
    """Returns the parameters that identify a randomizer.

    A third-party mechanism is also identified by its class and by everything that it
    stores.

    Args:
        device: A randomizer with `parameters`.

    Raises:
        IdentityError: If it stores a value that cannot be serialized.
    """
    parameters, kind = dict(device.parameters), type(device)
    if is_ours(kind):
        return parameters
    # Two third-party mechanisms of one name may send different messages.
    parameters["class"] = class_name(kind)
    for name, value in stored_state(device).items():
        if name not in parameters:
            parameters[name] = value
        elif not _equal(parameters[name], value):
            # No attribute has such a name.
            parameters[f"{name} (stored)"] = value
    return parameters


def _equal(stated: Any, stored: Any) -> bool:
    try:
        return bool(stated == stored)
    except ValueError:  # An array, which is refused as a parameter later.
        return False


def parameters_of(
    record: object, *names: str, optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Returns the parameters in a protocol's record; all are named here.

    >>> parameters_of(Identity.of("sum", "coin", {"p": 0.5}, "agnostic").record, "p")
    {'p': 0.5}

    Args:
        record: Of an identity; it may come from a file.
        names: Of parameters that it has to have.
        optional: Names of parameters that it may have.

    Raises:
        InvalidInputError: If it is no record, or its parameters are others.
    """
    parameters: dict[str, Any] = Identity.from_record(record).record["parameters"]
    if not set(names) <= set(parameters) <= {*names, *optional}:
        raise InvalidInputError(
            f"Expected a protocol with {', '.join(names) or 'no parameters'}, got one "
            f"with {', '.join(parameters) or 'none'}."
        )
    return parameters


def check_same(actual: Identity, wanted: Identity, *, what: str) -> None:
    """Raises InvalidInputError unless both are the same protocol's.

    Args:
        actual: Identity of the argument.
        wanted: Identity of the protocol that received it.
        what: The name of the argument in errors.
    """
    # Messages of one protocol mean nothing in another, and no check of shapes can tell.
    if actual != wanted:
        raise InvalidInputError(f"Expected {what} of {wanted}; got {what} of {actual}.")


def check_mode(mode: object) -> None:
    """Raises InvalidInputError unless this is one of the two modes."""
    if mode not in ("agnostic", "stratified"):
        raise InvalidInputError(
            f"Expected mode 'agnostic' or 'stratified', got {mode!r}."
        )


def _parameter_texts(parameters: dict[str, Any]) -> list[str]:
    """Returns every parameter as "name value"; nested ones only if they differ."""
    parts: list[str] = []
    for name, value in parameters.items():
        new = (
            _parameter_texts(value)
            if isinstance(value, dict)
            else [f"{name} {_plain_parameter(value)}"]
        )
        parts += [part for part in new if part not in parts]
    return parts


def _plain_parameter(value: object) -> str:
    if isinstance(value, float):
        # All digits: two protocols that differ in the last one are not the same.
        return repr(value).removesuffix(".0")
    if isinstance(value, dict) and set(value) == _KEYS:
        # A protocol that is part of another.
        return str(Identity.from_record(value))
    if isinstance(value, list):
        entries = ", ".join(_plain_parameter(entry) for entry in value[:3])
        return f"[{entries}{', ...' if len(value) > 3 else ''}]"
    return str(value)
