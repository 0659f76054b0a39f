namespace Billing.Webhooks;

/// <summary>A receiver of events. Thread-safe.</summary>
internal interface IReceiver
{
    /// <summary>Sends an event.</summary>
    /// <returns>Null if the receiver has taken it.</returns>
    Task<DeliveryFailure?> SendAsync(string id, string body);
}
