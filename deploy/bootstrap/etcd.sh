# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # What common.sh reads and sets.
# One of the machines on which the database's machines agree on which of them is the primary.

# The key and certificate that etcd shows to its clients and to its other machines, and the authority of theirs.
etcd_certificate=$settings_folder/tls/etcd.pem
etcd_authority=$settings_folder/tls/etcd-ca.pem

# install_etcd: installs it if BILLING_ETCD names this machine.
install_etcd() {
  [[ ",${BILLING_ETCD:-}," == *",$BILLING_ADDRESS,"* ]] || return 0
  need_packages etcd-server
  local settings restarts=$changed
  # It reads this file again for each connection, and the authority's only when it starts.
  put_pem tls/etcd "$etcd_certificate" root:etcd 640
  changed=0
  put_pem tls/ca "$etcd_authority" root:root 644
  settings=$(etcd_settings)
  put_file /etc/default/etcd root:root 644 <<<"$settings"
  put_file /etc/systemd/system/etcd.service.d/billing.conf root:root 644 <"$BILLING_BOOTSTRAP/units/etcd.conf"
  # It is ready when a majority is: the others are being installed, too.
  run_unit etcd --no-block
  changed=$restarts
}

# The folder is not that of the single node that the package starts. The times are for machines with a tenth of a
# processor. It lets in who has a certificate of the platform's authority, and as another member only who has etcd's:
# ETCD_CLIENT_CERT_ALLOWED_HOSTNAME would refuse what Patroni asks, which etcd 3.4 asks itself once more.
etcd_settings() {
  local members=() member
  for member in ${BILLING_ETCD//,/ }; do
    members+=("$member=https://$member:2380")
  done
  cat <<END
ETCD_DATA_DIR=/var/lib/etcd/billing
ETCD_NAME=$BILLING_ADDRESS
ETCD_INITIAL_CLUSTER=$(IFS=, && printf '%s' "${members[*]}")
ETCD_INITIAL_CLUSTER_TOKEN=billing
ETCD_INITIAL_ADVERTISE_PEER_URLS=https://$BILLING_ADDRESS:2380
ETCD_LISTEN_PEER_URLS=https://$BILLING_ADDRESS:2380
ETCD_ADVERTISE_CLIENT_URLS=https://$BILLING_ADDRESS:2379
ETCD_LISTEN_CLIENT_URLS=https://$BILLING_ADDRESS:2379,https://127.0.0.1:2379
ETCD_CERT_FILE=$etcd_certificate
ETCD_KEY_FILE=$etcd_certificate
ETCD_TRUSTED_CA_FILE=$etcd_authority
ETCD_CLIENT_CERT_AUTH=true
ETCD_PEER_CERT_FILE=$etcd_certificate
ETCD_PEER_KEY_FILE=$etcd_certificate
ETCD_PEER_TRUSTED_CA_FILE=$etcd_authority
ETCD_PEER_CLIENT_CERT_AUTH=true
ETCD_PEER_CERT_ALLOWED_CN=etcd
ETCD_HEARTBEAT_INTERVAL=300
ETCD_ELECTION_TIMEOUT=3000
ETCD_AUTO_COMPACTION_RETENTION=1
ETCD_QUOTA_BACKEND_BYTES=536870912
END
}
