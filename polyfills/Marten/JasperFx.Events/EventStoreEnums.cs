namespace JasperFx.Events;

public enum StreamIdentity
{
    AsGuid,
    AsString,
}

public enum EventAppendMode
{
    Rich,
    Quick,
    QuickWithServerTimestamps,
}

public enum StreamActionType
{
    Start,
    Append,
}
