"""Whether the processors were free for scripts/compare: what other programs used, and workers out of their turns."""
import contextlib
import os
import time

TICK = os.sysconf("SC_CLK_TCK")


def all_busy_seconds():
    """What processors spent on any program, or on other guests of the same host, since some moment."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICK


class Watch:
    def __init__(self, contestants):
        self.contestants = contestants
        self.begun, self.others_at_begin = time.monotonic(), self.others()
        self.left = {c.name: c.cpu_seconds() for c in contestants}
        self.restless = dict.fromkeys(self.left, 0.0)

    def others(self):
        ours = sum(os.times()[:4]) + sum(c.cpu_seconds() for c in self.contestants)
        return all_busy_seconds() - ours

    @contextlib.contextmanager
    def turn(self, contestant):
        self.restless[contestant.name] += contestant.cpu_seconds() - self.left[contestant.name]
        yield
        self.left[contestant.name] = contestant.cpu_seconds()

    def elapsed(self):
        return time.monotonic() - self.begun

    def cores_taken(self):
        """How many cores other programs kept busy, on average."""
        return max(0.0, (self.others() - self.others_at_begin) / self.elapsed())

    def doubts(self):
        if (taken := self.cores_taken()) > 0.05:
            yield f"IN DOUBT: other programs kept {taken:.2f} cores busy meanwhile."
        for name, seconds in self.restless.items():
            if seconds > 0.01 * self.elapsed():
                yield f"IN DOUBT: {name} used {seconds:.1f} s of processor time while others had their turn."
