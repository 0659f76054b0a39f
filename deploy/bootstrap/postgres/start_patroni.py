#!/usr/bin/python3
"""Starts Patroni: start_patroni.py SETTINGS

Patroni before 3.2, as in Debian 12, forgets at its start which standby commits wait for, and takes the standby for a synchronous one
all the same: commits are then acknowledged before they are on a second disk, and lost with the first. So before its start, the primary
whose Patroni this is takes the standby's right to be promoted away; Patroni then gives it again, in the order that makes it true.
"""
import sys
import time

from patroni.config import Config
from patroni.dcs import get_dcs
from patroni.exceptions import DCSError


def unlearn_standby(name, dcs):
    while True:
        try:
            known = dcs.get_cluster().sync
            if known.leader != name or not known.sync_standby or dcs.write_sync_state(name, None, index=known.index):
                return
        except DCSError as error:
            print(f"{error}; trying again", flush=True)
        time.sleep(1)


if __name__ == "__main__":
    config = Config(sys.argv[1])
    unlearn_standby(config["name"], get_dcs(config))

    from patroni.__main__ import main

    main()
