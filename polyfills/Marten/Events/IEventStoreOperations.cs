namespace Marten.Events;

public interface IEventOperations : JasperFx.Events.IEventOperations
{
}

public interface IQueryEventStore : JasperFx.Events.IQueryEventStore
{
}

public interface IEventStoreOperations : JasperFx.Events.IEventStoreOperations, IEventOperations, IQueryEventStore
{
}
