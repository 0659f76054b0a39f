using System.ComponentModel.DataAnnotations;
using System.Text.RegularExpressions;
using Billing.Contracts;
using Billing.Hosting;
using Billing.Webhooks.Security;
using Npgsql;

namespace Billing.Webhooks;

/// <summary>Where events are sent, and how; section <c>Billing:Webhooks</c>.</summary>
public sealed partial class WebhookOptions : IRelatedSettings
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:Webhooks";

    /// <summary>The connection string of the PostgreSQL database that keeps what is not delivered yet, in
    /// Npgsql's format. It may be one of the event store's; <c>Host=one,two</c> names several servers, of which
    /// the primary is used.</summary>
    public string ConnectionString { get; set; } = "";

    /// <summary>The schema that holds the tables.</summary>
    [RegularExpression("[a-z_][a-z0-9_]{0,62}", ErrorMessage = "must be a lower-case PostgreSQL name.")]
    public string Schema { get; set; } = "webhooks";

    /// <summary>The receivers, by names that never change.</summary>
    public Dictionary<string, ReceiverOptions> Receivers { get; set; } = new(StringComparer.Ordinal);

    /// <summary>Networks in which receivers may be although they are not public, e.g.
    /// <c>10.1.0.0/16, fd00:1::/64</c>.</summary>
    public string AllowedNetworks { get; set; } = "";

    /// <summary>The most accounts whose events are sent to one receiver at a time.</summary>
    [Range(1, 1000)]
    public int ConcurrencyMax { get; set; } = 16;

    /// <summary>How long a receiver may take to answer, connecting included.</summary>
    [TimeRange("00:00:00", "00:05:00", MinimumIsExclusive = true)]
    public TimeSpan Timeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>The wait after the first failure of an account's event; each further one is twice as long, and up to
    /// half of it longer.</summary>
    [TimeRange("00:00:00", "1.00:00:00", MinimumIsExclusive = true)]
    public TimeSpan RetryDelay { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>The longest wait between two attempts, but for its random half.</summary>
    [TimeRange("00:00:00", "1.00:00:00", MinimumIsExclusive = true)]
    public TimeSpan RetryDelayMax { get; set; } = TimeSpan.FromHours(1);

    /// <summary>How long an event is tried before the account's events for the receiver are parked.</summary>
    [TimeRange("00:00:00", "30.00:00:00", MinimumIsExclusive = true)]
    public TimeSpan RetryFor { get; set; } = TimeSpan.FromDays(3);

    /// <summary>How long a stop may take: until the deliveries under way are answered and recorded.</summary>
    public TimeSpan StopMax => Timeout + ReceiverDeliveries.EndMax + StopTimes.Ending;

    /// <inheritdoc/>
    public IEnumerable<Rule> Rules()
    {
        var first = Quantity.Of($"{Section}:{nameof(RetryDelay)}", RetryDelay);
        return
        [
            Rule.AtMost(
                first, Quantity.Of($"{Section}:{nameof(RetryDelayMax)}", RetryDelayMax),
                "the wait grows from one to the other"),
            Rule.Less(
                first, Quantity.Of($"{Section}:{nameof(RetryFor)}", RetryFor),
                "an event would be parked before it is tried a second time"),
        ];
    }

    /// <summary>One message for each invalid setting or combination of settings, naming it.</summary>
    internal IEnumerable<string> ValidationErrors()
    {
        if (ConnectionString.Length == 0)
        {
            yield return "Billing:Webhooks:ConnectionString is missing; set it to PostgreSQL's connection string, e.g. "
                + "Host=localhost;Database=billing;Username=billing.";
        }
        else if (ConnectionProblem() is { } problem)
        {
            yield return $"Billing:Webhooks:ConnectionString is not a connection string: {problem}";
        }
        foreach (var network in AddressRules.Listed(AllowedNetworks)
            .Where(network => !System.Net.IPNetwork.TryParse(network, out _)))
        {
            yield return $"Billing:Webhooks:AllowedNetworks: '{network}' is not a network such as 10.1.0.0/16.";
        }
        if (Receivers.Count == 0)
        {
            yield return "Billing:Webhooks:Receivers is missing; name a receiver, e.g. "
                + "Billing:Webhooks:Receivers:shop:Url.";
        }
        foreach (var error in Receivers.SelectMany(receiver => Problems(receiver.Key, receiver.Value)))
        {
            yield return $"Billing:Webhooks:Receivers:{error}";
        }
    }

    [GeneratedRegex("^[a-z0-9][a-z0-9_-]{0,62}$")]
    private static partial Regex ReceiverName();

    private string? ConnectionProblem()
    {
        try
        {
            _ = new NpgsqlConnectionStringBuilder(ConnectionString);
            return null;
        }
        catch (ArgumentException e)
        {
            return e.Message;
        }
    }

    private static IEnumerable<string> Problems(string name, ReceiverOptions receiver)
    {
        if (!ReceiverName().IsMatch(name))
        {
            yield return $"'{name}' must be a name of lower-case letters, digits, underscores and hyphens.";
        }
        if (!Uri.TryCreate(receiver.Url, UriKind.Absolute, out var url) || url.Scheme is not ("https" or "http")
            || url.UserInfo.Length > 0)
        {
            yield return $"{name}:Url must be of the form https://host/path, without a user.";
        }
        else if (url.Scheme == "http" && !receiver.AllowHttp)
        {
            yield return $"{name}:Url must begin with https, unless "
                + $"Billing:Webhooks:Receivers:{name}:AllowHttp is true.";
        }
        if (WebhookSignature.Problem(receiver.Secret) is { } problem)
        {
            yield return $"{name}:Secret {problem}";
        }
        foreach (var kind in AddressRules.Listed(receiver.Events).Except(EventBody.Kinds))
        {
            yield return $"{name}:Events: '{kind}' is not one of {string.Join(", ", EventBody.Kinds)}.";
        }
        foreach (var type in AddressRules.Listed(receiver.PaymentTypes)
            .Except(PaymentTypes.All.Select(type => PaymentTypes.NameOf(type).ToUpperInvariant())))
        {
            yield return $"{name}:PaymentTypes: '{type}' must be {PaymentTypes.Listed}.";
        }
    }
}

/// <summary>A receiver of events.</summary>
public sealed class ReceiverOptions
{
    /// <summary>Where events are posted to.</summary>
    public string Url { get; set; } = "";

    /// <summary>The secret that events are signed with: <c>whsec_</c> and the base64 of 24 to 64 random bytes.
    /// While it is replaced, two, separated by a space: events then carry both signatures.</summary>
    public string Secret { get; set; } = "";

    /// <summary>The kinds of events to send, separated by commas, e.g.
    /// <c>PAYMENT_ACCEPTED, PAYMENT_DECLINED</c>; all if empty.</summary>
    public string Events { get; set; } = "";

    /// <summary>The payment types whose events to send, separated by commas, e.g. <c>VISA</c>; all if empty.</summary>
    public string PaymentTypes { get; set; } = "";

    /// <summary>Whether the address may begin with http: events are then sent without encryption.</summary>
    public bool AllowHttp { get; set; }
}
