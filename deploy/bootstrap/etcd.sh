# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # What common.sh reads and sets.
# One of the machines on which the database's machines agree on which of them is the primary.

# install_etcd: installs it if BILLING_ETCD names this machine.
install_etcd() {
  local members=() member
  [[ ",${BILLING_ETCD:-}," == *",$BILLING_ADDRESS,"* ]] || return 0
  need_packages etcd-server
  for member in ${BILLING_ETCD//,/ }; do
    members+=("$member=http://$member:2380")
  done
  local restarts=$changed
  changed=0
  # Not the folder of the single node that the package starts. The times are for machines with a tenth of a processor.
  put_file /etc/default/etcd root:root 644 <<END
ETCD_DATA_DIR=/var/lib/etcd/billing
ETCD_NAME=$BILLING_ADDRESS
ETCD_INITIAL_CLUSTER=$(IFS=, && printf '%s' "${members[*]}")
ETCD_INITIAL_CLUSTER_TOKEN=billing
ETCD_INITIAL_ADVERTISE_PEER_URLS=http://$BILLING_ADDRESS:2380
ETCD_LISTEN_PEER_URLS=http://$BILLING_ADDRESS:2380
ETCD_ADVERTISE_CLIENT_URLS=http://$BILLING_ADDRESS:2379
ETCD_LISTEN_CLIENT_URLS=http://$BILLING_ADDRESS:2379,http://127.0.0.1:2379
ETCD_HEARTBEAT_INTERVAL=300
ETCD_ELECTION_TIMEOUT=3000
ETCD_AUTO_COMPACTION_RETENTION=1
ETCD_QUOTA_BACKEND_BYTES=536870912
END
  put_file /etc/systemd/system/etcd.service.d/billing.conf root:root 644 <"$BILLING_BOOTSTRAP/units/etcd.conf"
  # It is ready when a majority is: the others are being installed, too.
  run_unit etcd --no-block
  changed=$restarts
}
