-- What each role may do in the event store, once its tables are there (`schema`, as billing_owner). May be run again.
-- Backends append and read; nothing that is stored is ever changed but a stream's version and an account's snapshot.
grant usage on schema billing to billing_backend, billing_audit;
grant select, insert on all tables in schema billing to billing_backend;
grant update on billing.mt_streams, billing.account_snapshots to billing_backend;
grant usage on all sequences in schema billing to billing_backend;
grant execute on all functions in schema billing to billing_backend;
-- The audit reads.
grant select on all tables in schema billing to billing_audit;
