"""What command lines print of a pod, a node and an application, in the layout of their documentation."""

from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "described"
POD: Final = (_FOLDER / "pod.txt").read_text(encoding="utf-8")
NODE: Final = (_FOLDER / "node.txt").read_text(encoding="utf-8")
APPLICATION: Final = (_FOLDER / "application.txt").read_text(encoding="utf-8")
