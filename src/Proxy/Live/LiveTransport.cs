using Billing.Messaging;
using Billing.Messaging.Requests;
using Billing.Wire.V1;

namespace Billing.Proxy.Live;

/// <summary>A transport whose requests are recorded while somebody watches the live page.</summary>
internal sealed class LiveTransport(IRequestTransport transport, LiveWatch watch) : IRequestTransport
{
    /// <inheritdoc/>
    public TransportDescription Description => transport.Description;

    /// <inheritdoc/>
    public Task<Reply> SendAsync(Request request, Action? stored = null) => watch.Record is { } record
        ? record.SendAsync(transport, request, stored)
        : transport.SendAsync(request, stored);
}
