# shellcheck shell=bash
# shellcheck disable=SC2154 # What common.sh sets.
# A Kafka broker in KRaft mode. The first three nodes are also controllers; the others are brokers only. The first one
# creates the topics and the rights of all programs, which they wait for.

kafka_release=4.1.0
# Base64 of 16 bytes; the same on every node, and not a secret.
kafka_cluster=YmlsbGluZy1yZWYtMDAwMQ
kafka_settings_file=/etc/billing/kafka/server.properties
# In containers, whose network nothing else is on, there is no TLS: SASL_PLAINTEXT.
kafka_protocol=SASL_SSL
# The broker's key and its certificate.
broker_certificate=$settings_folder/tls/kafka.pem

install_tier() {
  require_settings BILLING_KAFKA_NODES
  need_packages openjdk-17-jre-headless
  own_user kafka
  install_archive kafka "kafka-$kafka_release.tar.gz"
  install -d -o kafka -g kafka -m 700 /var/lib/billing-kafka
  put_file /etc/billing/kafka/log4j2.properties root:root 644 <"$BILLING_BOOTSTRAP/kafka/log4j2.properties"
  local settings admin
  put_broker_authority
  put_pem tls/kafka "$broker_certificate" root:kafka 640
  admin=$(password kafka/admin)
  # Before the brokers have changed to a new password of the administrator, the old one is still theirs.
  if is_broker_login "$admin"; then
    settings=$(kafka_admin_properties)
    put_file /etc/billing/kafka/admin.properties root:root 600 <<<"$settings"
  fi
  settings=$(kafka_properties)
  put_file "$kafka_settings_file" root:kafka 640 <<<"$settings"
  [[ -f /var/lib/billing-kafka/meta.properties ]] || format_storage runuser -u kafka --
  local restarts=$changed
  put_file /usr/local/sbin/billing-kafka root:root 755 <"$BILLING_BOOTSTRAP/kafka/tool.sh"
  changed=$restarts
  run_service billing-kafka.service
  # The broker is up when the administrator can connect.
  retry billing-kafka broker-api-versions >/dev/null
  # One after the other would only find what the first has made.
  [[ $(node_number) != "${BILLING_KAFKA_NODES%%@*}" ]] || install_topics
}

install_topics() {
  install_program operator
  # In a folder of its own, in which the operators' program is started as the administrator.
  local settings=()
  kafka_settings admin
  put_settings admin root
  retry make_topics
}

make_topics() {
  local proxy options=()
  for proxy in $(proxies); do
    options+=(--proxy "$proxy")
  done
  env -C "$settings_folder/admin" "$programs/operator/Billing.Operator" topics \
    --access "$BILLING_BOOTSTRAP/kafka/access.txt" "${options[@]}"
}

# format_storage [COMMAND...]: COMMAND runs the tool under the brokers' account. The programs' accounts are created with
# the storage, so that a broker is never open to everyone.
format_storage() {
  local principal password arguments=()
  for principal in $(kafka_principals); do
    password=$(password "kafka/$principal")
    arguments+=(--add-scram "SCRAM-SHA-512=[name=\"$principal\",password=\"$password\"]")
  done
  "$@" java -Xmx96m -cp "$programs/kafka/libs/*" kafka.tools.StorageTool format \
    --cluster-id "$kafka_cluster" --config "$kafka_settings_file" "${arguments[@]}"
}

# node_number: prints this machine's number, by its address in BILLING_KAFKA_NODES.
node_number() {
  local node
  for node in ${BILLING_KAFKA_NODES//,/ }; do
    if [[ ${node#*@} == "$BILLING_ADDRESS" ]]; then
      printf '%s' "${node%@*}"
      return
    fi
  done
  die "BILLING_KAFKA_NODES=$BILLING_KAFKA_NODES does not name this machine, $BILLING_ADDRESS"
}

kafka_properties() {
  local number nodes voters=() node roles=broker listeners admin accounts
  number=$(node_number)
  IFS=, read -ra nodes <<<"$BILLING_KAFKA_NODES"
  for node in "${nodes[@]:0:3}"; do
    voters+=("$node:9093")
    [[ ${node%@*} != "$number" ]] || roles=broker,controller
  done
  listeners="CLIENT://$BILLING_ADDRESS:9092,BROKER://$BILLING_ADDRESS:9094"
  # In a command of its own: of a substitution among the arguments of another command a failure is not noticed.
  admin=$(password kafka/admin)
  accounts=$(broker_accounts "$admin")
  cat <<END
process.roles=$roles
node.id=$number
broker.rack=$BILLING_ZONE
controller.quorum.voters=$(IFS=, && printf '%s' "${voters[*]}")
listeners=$listeners$([[ $roles == broker ]] || printf ',CONTROLLER://%s:9093' "$BILLING_ADDRESS")
advertised.listeners=$listeners
listener.security.protocol.map=CLIENT:$kafka_protocol,BROKER:$kafka_protocol,CONTROLLER:$kafka_protocol
END
  [[ $kafka_protocol != SASL_SSL ]] || broker_tls
  printf '%s\n' "$(<"$BILLING_BOOTSTRAP/kafka/server.properties")"
  broker_logins "$accounts"
}

# The password with which brokers log in at each other has an account of its own, so that two of them can be valid while
# brokers change from one to the other, one after the other: a first installation on all brokers makes the new one
# valid, a second one uses it, and a third one ends the old one.

# broker_accounts PASSWORD: prints the accounts that are valid, NAME PASSWORD in each line.
# Brokers log in with the first one.
broker_accounts() {
  local new old
  new="broker-$(printf '%s' "$1" | sha256sum | head -c 12) $1"
  old=$(broker_login)
  if [[ -z $old ]]; then
    printf '%s\n' "$new"
  elif [[ ${old#* } == "$1" ]]; then
    printf '%s\n' "$old"
  elif grep -q " user_${new% *}=" "$kafka_settings_file"; then
    printf '%s\n' "$new" "$old"
  else
    printf '%s\n' "$old" "$new"
  fi
}

# broker_login: prints the account with which this broker logs in, or nothing before its first installation.
broker_login() {
  if [[ -e $kafka_settings_file ]]; then
    grep '^listener\.name\.broker\.plain\.sasl\.jaas\.config=' "$kafka_settings_file" |
      sed -nE 's/.* username="([^"]*)" password="([^"]*)".*/\1 \2/p'
  fi
}

# is_broker_login PASSWORD: whether this broker logs in with it, or is new.
is_broker_login() {
  local account
  account=$(broker_login)
  [[ -z $account || ${account#* } == "$1" ]]
}

# broker_logins ACCOUNTS
broker_logins() {
  local name password login='' administrators=User:admin
  while read -r name password; do
    [[ -n $login ]] ||
      login="org.apache.kafka.common.security.plain.PlainLoginModule required username=\"$name\" password=\"$password\""
    login+=" user_$name=\"$password\""
    administrators+=";User:$name"
  done <<<"$1"
  printf 'listener.name.%s.plain.sasl.jaas.config=%s;\n' broker "$login" controller "$login"
  printf 'super.users=%s\n' "$administrators"
}

# broker_tls: what brokers show to others, and whom they trust. They check each other's certificates as clients do.
broker_tls() {
  cat <<END
ssl.keystore.type=PEM
ssl.keystore.location=$broker_certificate
ssl.enabled.protocols=TLSv1.3
END
  trusted_brokers
}

trusted_brokers() {
  cat <<END
ssl.truststore.type=PEM
ssl.truststore.location=$broker_authority
END
}

kafka_admin_properties() {
  local password
  password=$(password kafka/admin)
  trusted_brokers
  cat <<END
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="admin" password="$password";
END
}
