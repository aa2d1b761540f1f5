"""A memory control group of its own for a command, of version 1 or 2. Needs root."""
import os
import pathlib
import subprocess


def run(limit, command, cold=False, timeout=None):
    """Runs a command (a list, or text for a shell) in a group of `limit` bytes; `cold`: from an empty page cache.

    Returns what subprocess.run does, with its output as text; raises subprocess.TimeoutExpired.
    """
    v1 = pathlib.Path("/sys/fs/cgroup/memory")
    group = (v1 if v1.is_dir() else pathlib.Path("/sys/fs/cgroup")) / f"lazymoe{os.getpid()}"
    group.mkdir()
    try:
        (group / ("memory.limit_in_bytes" if v1.is_dir() else "memory.max")).write_text(str(limit))
        if cold:
            subprocess.run(["sync"], check=True)
            pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
        return subprocess.run(command, preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())),
                              shell=isinstance(command, str), capture_output=True, text=True, timeout=timeout)
    finally:
        group.rmdir()
