using Billing.Operator.Credentials;

namespace Billing.LocalStack;

/// <summary>A receiver on this machine to which a stack sends its events.</summary>
/// <param name="Url">Where it listens; http is allowed.</param>
/// <param name="Secret">The secret that the events are signed with.</param>
public sealed record WebhookTarget(string Url, string Secret)
{
    /// <summary>The receiver's name.</summary>
    public const string Name = "local";

    /// <summary>A receiver with a secret of its own.</summary>
    public static WebhookTarget New(string url) => new(url, DeploymentCredentials.NewWebhookSecret());

    /// <summary>The settings of the service that sends to it.</summary>
    /// <param name="connectionString">The database that keeps what is not delivered yet.</param>
    internal Dictionary<string, string?> Settings(string connectionString) => new()
    {
        ["Billing__Webhooks__ConnectionString"] = connectionString,
        ["Billing__Webhooks__AllowedNetworks"] = "127.0.0.0/8, ::1/128",
        [$"Billing__Webhooks__Receivers__{Name}__Url"] = Url,
        [$"Billing__Webhooks__Receivers__{Name}__Secret"] = Secret,
        [$"Billing__Webhooks__Receivers__{Name}__AllowHttp"] = "true",
    };
}
