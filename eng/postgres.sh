# shellcheck shell=bash
# The programs of a PostgreSQL server. No system server is used: the stack creates its own clusters.

postgres_oldest=14

# need_postgres: finds the programs, or records that they are needed.
need_postgres() {
  if [[ -n ${BILLING_POSTGRES_BIN:-} ]]; then
    has_postgres "$BILLING_POSTGRES_BIN" ||
      die "BILLING_POSTGRES_BIN is $BILLING_POSTGRES_BIN: no PostgreSQL $postgres_oldest or newer there"
  else
    find_postgres ||
      need "PostgreSQL $postgres_oldest or newer" postgresql 'to store events; no system server is created'
  fi
}

# ensure_postgres: exports BILLING_POSTGRES_BIN, the folder of initdb and postgres.
ensure_postgres() {
  [[ -n ${BILLING_POSTGRES_BIN:-} ]] || find_postgres || die "PostgreSQL $postgres_oldest or newer was not found"
  export BILLING_POSTGRES_BIN
}

# Searches the folders of Debian's packages and of PostgreSQL's own packages for Fedora, the folder that pg_config prints, and the PATH, as
# on Fedora and Arch.
find_postgres() {
  local folder
  while read -r folder; do
    if has_postgres "$folder"; then
      BILLING_POSTGRES_BIN=$folder
      return
    fi
  done < <(
    { compgen -G "$system_root/usr/lib/postgresql/*/bin" || compgen -G "$system_root/usr/pgsql-*/bin" || true; } | sort -Vr
    ! have pg_config || pg_config --bindir
    ! have postgres || dirname -- "$(command -v postgres)"
  )
  return 1
}

has_postgres() {
  [[ -x $1/initdb && -x $1/postgres ]] || return 1
  local version
  version=$("$1/postgres" --version | sed -n 's/.* (PostgreSQL) \([0-9]*\).*/\1/p')
  ((${version:-0} >= postgres_oldest))
}
