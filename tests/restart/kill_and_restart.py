#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright the containment-domains authors
"""A program that is killed at random moments, with all its processes, and started again until it
is done, gives the answer of a run that nobody killed.

kill_and_restart.py CDCTL SEED RESTARTS COMMAND...: COMMAND prints "step N" and at last "result ...".
Before each start CD_RESTART is what cdctl says that all stores have in common; it is not set where
CDCTL is -, since a program of one process needs none. When it is done it begins again, until it was
restarted in the middle so many times.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

DEADLINE = 90  # seconds for all of it
LONGEST_START = 30  # until a run that is to be killed has shown a step


def descendants(process):
    """All processes below one, by /proc, since launchers put ranks into sessions of their own."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
                    parents[int(entry)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                pass  # it has ended meanwhile
    found = {process}
    grown = True
    while grown:
        more = {child for child, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found - {process}


def is_launcher(process):
    try:
        with open(f"/proc/{process}/comm", encoding="ascii", errors="replace") as file:
            return "hydra" in file.read()
    except OSError:
        return True


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Run:
    """One start of the program; its lines are read as they come."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.lines = []
        self.news = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.rstrip("\n"))
                self.news.notify()
        with self.news:
            self.lines.append(None)
            self.news.notify()

    def steps(self):
        return [line for line in self.lines if line and line.startswith("step ")]

    def result(self):
        return next((line for line in self.lines if line and line.startswith("result ")), None)

    def wait_for_steps(self, count):
        """False: the program ends before."""
        with self.news:
            if not self.news.wait_for(
                lambda: len(self.steps()) >= count or None in self.lines, LONGEST_START
            ):
                self.kill_all()
                sys.exit(f"no step for {LONGEST_START} s; it printed {self.lines}")
            return len(self.steps()) >= count

    def kill_all(self):
        """The launcher stays, to see them end; it cannot tell them anything any more."""
        programs = [child for child in descendants(self.process.pid) if not is_launcher(child)]
        for child in programs or [self.process.pid]:
            kill(child)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            for child in list(descendants(self.process.pid)) + [self.process.pid]:
                kill(child)
            self.process.wait(10)
        self.reader.join(10)


class Judge:
    def __init__(self, cdctl, chance, command, wanted):
        self.cdctl, self.chance, self.command, self.wanted = cdctl, chance, command, wanted
        self.kills = self.restarts = 0
        self.end = time.monotonic() + DEADLINE

    def start(self, stores):
        environment = without_domains(os.environ)
        environment["CD_STORAGE_INFO"] = f"store=file,dir={stores},keep=2"
        if self.cdctl != "-":
            environment["CD_RESTART"] = subprocess.run(
                [self.cdctl, "epoch", stores],
                check=True,
                timeout=30,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            ).stdout.strip()
        return Run(self.command, environment)

    def play(self, stores):
        """From the beginning until the program is done."""
        while True:
            if time.monotonic() > self.end:
                sys.exit(f"not done after {DEADLINE} s: {self}")
            run = self.start(stores)
            killed = run.wait_for_steps(self.chance.randrange(1, 24))
            if killed:
                time.sleep(self.chance.random() * 0.006)
                run.kill_all()
            else:
                run.process.wait(30)
                run.reader.join(10)
            self.kills += killed
            first = next(iter(run.steps()), "")
            self.restarts += first.endswith(", restarted") and first != "step 1, restarted"
            if run.result() is not None:
                if run.result() != self.wanted:
                    sys.exit(f"{run.result()}, wanted: {self.wanted}; {self}")
                return
            if not killed:
                sys.exit(f"the program ended without a result: {run.lines}")

    def __str__(self):
        return f"{self.kills} kills, {self.restarts} restarts in the middle"


def without_domains(environment):
    return {name: value for name, value in environment.items() if not name.startswith("CD_")}


def main():
    cdctl, seed, restarts, *command = sys.argv[1:]
    undisturbed = Run(command, without_domains(os.environ))
    undisturbed.process.wait(60)
    undisturbed.reader.join(10)
    wanted = undisturbed.result()
    if wanted is None:
        sys.exit(f"the undisturbed run has no result: {undisturbed.lines}")
    judge = Judge(cdctl, random.Random(int(seed)), command, wanted)
    while judge.restarts < int(restarts):
        with tempfile.TemporaryDirectory() as directory:
            stores = os.path.join(directory, "stores")
            os.mkdir(stores, 0o700)
            judge.play(stores)
    print(f"{judge}; {wanted}")


main()
