-- The roles of the platform, and its database; run it as a superuser, or as the master of a managed database,
-- who may create roles and owns the database. May be run again. Passwords are set separately.
select format('create role %I login nosuperuser nocreatedb nocreaterole', role)
from unnest(array['billing_owner', 'billing_backend', 'billing_webhooks', 'billing_audit']) as role
where not exists (select from pg_roles where rolname = role) \gexec
select 'create database billing'
where not exists (select from pg_database where datname = 'billing') \gexec
revoke all on database billing from public;
grant create on database billing to billing_owner;
grant connect on database billing to billing_owner, billing_backend, billing_webhooks, billing_audit;
alter role billing_audit set default_transaction_read_only = on;
