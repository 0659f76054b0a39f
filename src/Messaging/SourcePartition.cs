namespace Billing.Messaging;

/// <summary>Where a command came from: all commands of an account come from one, in order.</summary>
/// <param name="Topic">The request topic.</param>
/// <param name="Number">The partition's number between the topic.</param>
public readonly record struct SourcePartition(string Topic, int Number);
