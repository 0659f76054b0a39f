#!/usr/bin/python3
"""Starts Patroni: start_patroni.py SETTINGS

Three errors of Patroni 3.0, as in Debian 12, are mended here. Two of them lose acknowledged commits, and are mended as
later releases mend them, which cannot be used: since 3.2 the primary's lock lasts for 20 seconds at least, and so does
the silence after its loss.

Before 3.2 it forgets at its start which standby commits wait for, and writes the server's settings without it. If its
server runs, every commit that waits is then acknowledged at once, and no later one waits: what is not on the standby's
disk is lost at the next failover, or was lost at the last one. So it begins here with what it has written itself
before.

Before 3.1 a primary that was away for longer than its lock takes the lock back from the one that took over. That one
then deletes what it has committed since. So it renews its lock here only if it still has it.

When it is reloaded, its REST interface goes on with the authority that it has, and, if the settings have changed too,
with its certificate. So each reload makes it read both again.

start_patroni.py --alone SETTINGS starts nothing: only this server, whose Patroni has ended, may become the primary,
although its data is older than what was known of the last one.
"""
import re
import sys


def keep_standby_names(handler):
    original = handler.get_server_parameters

    def written_before(self):
        try:
            with open(self._postgresql_conf, encoding="utf-8") as settings:
                found = re.search(r"^synchronous_standby_names = '(.+)'$", settings.read(), re.MULTILINE)
                return found and found.group(1)
        except FileNotFoundError:
            return None

    def get_server_parameters(self, config):
        if not hasattr(self, "_has_read_standby_names"):
            self._has_read_standby_names = True
            self._synchronous_standby_names = self._synchronous_standby_names or written_before(self)
        parameters = original(self, config)
        # Before it has read from etcd that replication is synchronous, too.
        if self._synchronous_standby_names:
            parameters["synchronous_standby_names"] = self._synchronous_standby_names
        return parameters

    handler.get_server_parameters = get_server_parameters


def renew_own_lock_only(etcd):
    from patroni.dcs import catch_return_false_exception
    from patroni.dcs.etcd3 import base64_encode

    @catch_return_false_exception
    def _update_leader(self):
        retry = self._retry.copy()

        def call(method, *args):
            return self._run_and_handle_exceptions(method, *args, retry=lambda *a: retry(*a, retry=retry))

        call(self._do_refresh_lease, True)
        held = self.cluster and self.cluster.leader
        if held and held.session == self._lease:
            return True
        lock = {"key": base64_encode(self.leader_path), "value": base64_encode(self._name)}
        put = {"request_put": {**lock, "lease": self._lease}}
        return bool(call(self._client.txn, {**lock, "target": "VALUE"}, put))

    etcd._update_leader = _update_leader


def read_certificates_again(api):
    original = api.reload_config

    def reload_config(self, config):
        self._received_new_cert = True
        original(self, config)

    api.reload_config = reload_config
    api.reload_local_certificate = lambda self: True


def leave_alone(settings):
    from patroni.config import Config
    from patroni.dcs import get_dcs

    config = Config(settings)
    name, dcs = config["name"], get_dcs(config)
    known = dcs.get_cluster().sync
    if (known.leader != name or known.sync_standby) and not dcs.write_sync_state(name, None, index=known.index):
        sys.exit(f"another server has become the primary, and not {name}")
    dcs.write_leader_optime(0)
    # The last primary may have forgotten a server that was gone before it; the next one writes who there is.
    dcs.write_failsafe({})


if __name__ == "__main__":
    if sys.argv[1] == "--alone":
        leave_alone(sys.argv[2])
    else:
        from patroni.__main__ import main
        from patroni.api import RestApiServer
        from patroni.dcs.etcd3 import Etcd3
        from patroni.postgresql.config import ConfigHandler

        keep_standby_names(ConfigHandler)
        renew_own_lock_only(Etcd3)
        read_certificates_again(RestApiServer)
        main()
