using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Calls the operators' part of the billing platform, at the proxies' admin addresses, which alone serve it;
/// with the retries, circuits and telemetry of <see cref="BillingClient"/>. Thread-safe; keep one instance for the
/// lifetime of the program. Tests may derive from it, or use <see cref="Testing.InMemoryBilling"/>.</summary>
public class BillingAdminClient : IDisposable
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:AdminClient";

    private readonly ProxyCalls? _calls;
    private readonly BillingAdminService.BillingAdminServiceClient? _admin;

    /// <summary>Creates a client; connections are opened by the first calls.</summary>
    /// <param name="options">The admin addresses and how to call them; a caller with the scope <c>admin</c>.
    /// Read by the constructor only; later changes have no effect.</param>
    /// <param name="time">The clock; the system clock if null.</param>
    /// <exception cref="ArgumentException">The options are invalid; the message names them.</exception>
    public BillingAdminClient(BillingClientOptions options, TimeProvider? time = null)
    {
        _calls = new ProxyCalls(options, Section, time);
        _admin = new BillingAdminService.BillingAdminServiceClient(_calls.Invoker);
    }

    /// <summary>Creates a client that calls nothing, for classes that stand in for the platform in tests.</summary>
    protected BillingAdminClient()
    {
    }

    /// <summary>Calls the admin addresses with this client's token, retries and circuits, for the class that protoc
    /// generates from billing.proto: <c>new BillingAdminService.BillingAdminServiceClient(client.CallInvoker)</c>. Its
    /// calls throw <see cref="RpcException"/>; see <see cref="BillingClient.Reason"/>.</summary>
    public virtual CallInvoker CallInvoker => Calls.Invoker;

    private ProxyCalls Calls => _calls ?? throw BillingClient.NotOverridden();

    private BillingAdminService.BillingAdminServiceClient Admin => _admin ?? throw BillingClient.NotOverridden();

    /// <summary>Sets the credit limit of an account.</summary>
    /// <param name="change">Keep it until its outcome is known, as with a payment.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the limit may or may not be set.</param>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<Outcome<CreditLimitAnswer>> SetCreditLimitAsync(
        CreditLimitChange change, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(change);
        return ProxyCalls.OutcomeAsync(
            change.Id, Admin.SetCreditLimitAsync(change.Message, Calls.Options(deadline, cancellationToken)),
            CreditLimitAnswer.Of, cancellationToken);
    }

    /// <summary>Freezes, closes or reopens an account.</summary>
    /// <param name="change">Keep it until its outcome is known, as with a payment.</param>
    /// <param name="deadline">The deadline, including all retries: more than zero, at most a day; null for
    /// <see cref="BillingClientOptions.Deadline"/>.</param>
    /// <param name="cancellationToken">Cancels the call; the status may or may not be changed.</param>
    /// <exception cref="ArgumentOutOfRangeException">The deadline is out of range.</exception>
    public virtual Task<Outcome<AccountStatusAnswer>> SetAccountStatusAsync(
        AccountStatusChange change, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(change);
        return ProxyCalls.OutcomeAsync(
            change.Id, Admin.SetAccountStatusAsync(change.Message, Calls.Options(deadline, cancellationToken)),
            AccountStatusAnswer.Of, cancellationToken);
    }

    /// <summary>Closes the connections; calls in flight end.</summary>
    public void Dispose()
    {
        Dispose(disposing: true);
        GC.SuppressFinalize(this);
    }

    /// <summary>Closes the connections.</summary>
    /// <param name="disposing">Always true.</param>
    protected virtual void Dispose(bool disposing) => _calls?.Dispose();
}
