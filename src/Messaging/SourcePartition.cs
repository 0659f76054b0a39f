namespace Billing.Messaging;

/// <summary>The partition that a command was read from; all commands of an account come from the same one, in order.</summary>
/// <param name="Topic">The request topic.</param>
/// <param name="Number">The number of the partition within the topic.</param>
public readonly record struct SourcePartition(string Topic, int Number);
