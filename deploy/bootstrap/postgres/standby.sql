-- The roles of the platform's own servers among each other; run it as a superuser. May be run again. Passwords
-- are set separately. billing_replication copies the primary; with billing_rewind a former primary becomes a
-- standby of its successor.
select 'create role billing_replication login replication'
where not exists (select from pg_roles where rolname = 'billing_replication') \gexec
select 'create role billing_rewind login'
where not exists (select from pg_roles where rolname = 'billing_rewind') \gexec
grant execute on function pg_ls_dir(text, boolean, boolean), pg_stat_file(text, boolean), pg_read_binary_file(text),
  pg_read_binary_file(text, bigint, bigint, boolean) to billing_rewind;
