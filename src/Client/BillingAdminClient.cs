using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>Calls the operators' part of the billing platform, at the proxies' admin addresses, which alone serve it; with the retries,
/// circuits and telemetry of <see cref="BillingClient"/>. Thread-safe; keep one instance for the lifetime of the program.</summary>
public sealed class BillingAdminClient : IBillingAdminClient, IDisposable
{
    /// <summary>The configuration section.</summary>
    public const string Section = "Billing:AdminClient";

    private readonly ProxyCalls _calls;

    /// <summary>Creates a client; connections are opened by the first calls.</summary>
    /// <param name="options">The admin addresses and how to call them; a caller with the scope <c>admin</c>. Read by the constructor only;
    /// later changes have no effect.</param>
    /// <param name="time">The clock; the system clock if null.</param>
    /// <exception cref="ArgumentException">The options are invalid; the message names them.</exception>
    public BillingAdminClient(BillingClientOptions options, TimeProvider? time = null) =>
        _calls = new ProxyCalls(options, Section, time ?? TimeProvider.System);

    /// <inheritdoc/>
    public Task<CreditLimitResult> SetCreditLimitAsync(CreditLimit limit, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(limit);
        return _calls.Unary.ResultAsync(
            SetCreditLimit(limit.Message), limit.Id,
            static (id, answer) => Outcomes.Of(id, answer),
            static (id, reason, field, message) => new CreditLimitResult.Rejected(id, reason, field, message),
            static (id, reason, message, retryAfter) => new CreditLimitResult.Unknown(id, reason, message, retryAfter),
            deadline, cancellationToken);
    }

    /// <summary>Sets the credit limit of an account with the messages of billing.proto.</summary>
    /// <param name="request">Its transaction id is the idempotency key, as with a payment.</param>
    /// <param name="cancellationToken">Cancels the call; the limit may or may not be set.</param>
    /// <exception cref="RpcException">The call failed; see <see cref="BillingClient.Reason"/>.</exception>
    public Task<SetCreditLimitResponse> SetCreditLimitAsync(
        SetCreditLimitRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(SetCreditLimit(request), deadline: null, cancellationToken);

    /// <inheritdoc/>
    public Task<AccountStatusResult> SetAccountStatusAsync(
        AccountStatusChange change, TimeSpan? deadline = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(change);
        return _calls.Unary.ResultAsync(
            SetAccountStatus(change.Message), change.Id,
            static (id, answer) => Outcomes.Of(id, answer),
            static (id, reason, field, message) => new AccountStatusResult.Rejected(id, reason, field, message),
            static (id, reason, message, retryAfter) => new AccountStatusResult.Unknown(id, reason, message, retryAfter),
            deadline, cancellationToken);
    }

    /// <summary>Freezes, closes or reopens an account with the messages of billing.proto.</summary>
    /// <param name="request">Its transaction id is the idempotency key, as with a payment.</param>
    /// <param name="cancellationToken">Cancels the call; the status may or may not be changed.</param>
    /// <exception cref="RpcException">The call failed; see <see cref="BillingClient.Reason"/>.</exception>
    public Task<SetAccountStatusResponse> SetAccountStatusAsync(
        SetAccountStatusRequest request, CancellationToken cancellationToken = default) =>
        _calls.Unary.RunAsync(SetAccountStatus(request), deadline: null, cancellationToken);

    /// <inheritdoc/>
    public void Dispose() => _calls.Dispose();

    private static UnaryCall<SetCreditLimitRequest, SetCreditLimitResponse> SetCreditLimit(SetCreditLimitRequest request) => new(
        "billing.v1.BillingAdminService/SetCreditLimit", request,
        static (proxy, request, options) => proxy.Admin.SetCreditLimitAsync(request, options).ResponseAsync);

    private static UnaryCall<SetAccountStatusRequest, SetAccountStatusResponse> SetAccountStatus(SetAccountStatusRequest request) => new(
        "billing.v1.BillingAdminService/SetAccountStatus", request,
        static (proxy, request, options) => proxy.Admin.SetAccountStatusAsync(request, options).ResponseAsync);
}
