"""Programs of Apertium, a translator by rules, that make a line of each line."""
import subprocess

from encoder_folder import fail


def run(command, lines, needed):
    """A line of output for each line of input. `needed` says what to install if that fails."""
    if not lines:
        return []
    try:
        done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
    except FileNotFoundError:
        fail(f"{command[0]} is missing; {needed}")
    out = done.stdout.removesuffix("\n").split("\n")
    if done.returncode or len(out) != len(lines):
        fail(f"{' '.join(command)} made {len(out)} lines of {len(lines)}; {done.stderr.strip() or needed}")
    return out


def translate(mode, lines, needed):
    return run(["apertium", "-f", "line", mode], lines, needed)
