-- The roles of the platform, and its database; run it as a superuser. May be run again. Passwords are set separately.
select format('create role %I login nosuperuser nocreatedb nocreaterole', role)
from unnest(array['billing_owner', 'billing_backend', 'billing_audit']) as role
where not exists (select from pg_roles where rolname = role) \gexec
-- For the standbys: to copy the primary, and to become one again.
select 'create role billing_replication login replication'
where not exists (select from pg_roles where rolname = 'billing_replication') \gexec
select 'create role billing_rewind login'
where not exists (select from pg_roles where rolname = 'billing_rewind') \gexec
grant execute on function pg_ls_dir(text, boolean, boolean), pg_stat_file(text, boolean), pg_read_binary_file(text),
  pg_read_binary_file(text, bigint, bigint, boolean) to billing_rewind;
select 'create database billing owner billing_owner'
where not exists (select from pg_database where datname = 'billing') \gexec
revoke all on database billing from public;
grant connect on database billing to billing_owner, billing_backend, billing_audit;
alter role billing_audit set default_transaction_read_only = on;
