-- The rights of each role in the event store; run it after the tables exist (`schema`, as billing_owner). May be run
-- again. Backends append and read; of stored data, only a stream's version, a partition's epoch and the list of open
-- holds are ever changed.
grant usage on schema billing to billing_backend, billing_audit;
grant select, insert on all tables in schema billing to billing_backend;
-- Whose shards these are is changed by the owner only.
revoke insert on billing.shards from billing_backend;
grant update on billing.mt_streams, billing.partition_epochs, billing.open_holds to billing_backend;
grant delete on billing.open_holds to billing_backend;
grant usage on all sequences in schema billing to billing_backend;
grant execute on all functions in schema billing to billing_backend;
-- The audit only reads.
grant select on all tables in schema billing to billing_audit;
-- The service that sends events to receivers has a schema of its own, in which it creates its tables, and no rights in
-- the event store.
create schema if not exists webhooks;
grant usage, create on schema webhooks to billing_webhooks;
