"""Tags the wheel: any Python 3, and the platform that make-wheel.py found the program to need."""
import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-" + os.environ["TIERED_WHEEL_PLATFORM"]
