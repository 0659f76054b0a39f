# shellcheck shell=bash
# The programs of a PostgreSQL server. Never a server of the system's: the stack makes clusters of its own.

postgres_oldest=14
postgres_setting=

# ensure_postgres: exports BILLING_POSTGRES_BIN, the folder of initdb and postgres.
ensure_postgres() {
  if [[ -n ${BILLING_POSTGRES_BIN:-} ]]; then
    has_postgres "$BILLING_POSTGRES_BIN" ||
      die "BILLING_POSTGRES_BIN is $BILLING_POSTGRES_BIN: no PostgreSQL $postgres_oldest or newer there"
  else
    find_postgres || install_postgres
  fi
  export BILLING_POSTGRES_BIN
}

find_postgres() {
  local folder
  while read -r folder; do
    if has_postgres "$folder"; then
      BILLING_POSTGRES_BIN=$folder
      return
    fi
  done < <(
    compgen -G '/usr/lib/postgresql/*/bin' | sort -Vr
    ! have pg_config || pg_config --bindir
  )
  return 1
}

has_postgres() {
  [[ -x $1/initdb && -x $1/postgres ]] || return 1
  local version
  version=$("$1/postgres" --version | sed -n 's/.* (PostgreSQL) \([0-9]*\).*/\1/p')
  ((${version:-0} >= postgres_oldest))
}

# Debian's package makes and starts a cluster of the system's own, unless told otherwise for as long as it installs.
install_postgres() {
  local why='to keep the books; no server of the system is made' package=postgresql
  become_root "$why" "$package"
  refresh_lists
  ! apt-cache show postgresql-15 >/dev/null 2>&1 || package=postgresql-15
  postgres_setting=/etc/postgresql-common/createcluster.d/billing.conf
  "${BILLING_AS_ROOT[@]}" mkdir -p "$(dirname -- "$postgres_setting")"
  echo 'create_main_cluster = false' | "${BILLING_AS_ROOT[@]}" tee "$postgres_setting" >/dev/null
  as_root_install "$why" "$package"
  forget_postgres_setting
  find_postgres || die "$package was installed, but PostgreSQL $postgres_oldest or newer is nowhere to be found"
}

# Also part of the clean-up, for an installation that is interrupted.
forget_postgres_setting() {
  if [[ -n $postgres_setting ]]; then
    "${BILLING_AS_ROOT[@]}" rm -f "$postgres_setting"
    "${BILLING_AS_ROOT[@]}" rmdir --ignore-fail-on-non-empty "$(dirname -- "$postgres_setting")"
    postgres_setting=
  fi
}
