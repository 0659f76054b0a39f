namespace Grpc.Core;

public struct CallOptions
{
    public CallOptions(
        Metadata? headers = null,
        DateTime? deadline = null,
        CancellationToken cancellationToken = default,
        WriteOptions? writeOptions = null,
        ContextPropagationToken? propagationToken = null,
        CallCredentials? credentials = null)
    {
        Headers = headers;
        Deadline = deadline;
        CancellationToken = cancellationToken;
        WriteOptions = writeOptions;
        PropagationToken = propagationToken;
        Credentials = credentials;
    }

    public Metadata? Headers { get; private init; }

    public DateTime? Deadline { get; private init; }

    public CancellationToken CancellationToken { get; private init; }

    public WriteOptions? WriteOptions { get; private init; }

    public ContextPropagationToken? PropagationToken { get; private init; }

    public CallCredentials? Credentials { get; private init; }

    public bool IsWaitForReady { get; private init; }

    public CallOptions WithHeaders(Metadata headers) => this with { Headers = headers };

    public CallOptions WithDeadline(DateTime deadline) => this with { Deadline = deadline };

    public CallOptions WithCancellationToken(CancellationToken cancellationToken) =>
        this with { CancellationToken = cancellationToken };

    public CallOptions WithWriteOptions(WriteOptions writeOptions) => this with { WriteOptions = writeOptions };

    public CallOptions WithPropagationToken(ContextPropagationToken propagationToken) =>
        this with { PropagationToken = propagationToken };

    public CallOptions WithCredentials(CallCredentials credentials) => this with { Credentials = credentials };

    public CallOptions WithWaitForReady(bool waitForReady = true) => this with { IsWaitForReady = waitForReady };
}
