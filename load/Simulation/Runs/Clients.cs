using System.Globalization;
using Billing.Contracts;
using Billing.Simulation.Services;
using Billing.V1;
using Billing.Wire.V1;
using Grpc.Core;

namespace Billing.Simulation.Runs;

/// <summary>The clients of a run: each retries its request, with the same transaction id, at one proxy after the other until it
/// has an answer. The reference model checks every answer as it arrives.</summary>
/// <param name="node">The clients' process.</param>
/// <param name="scheduler">The scheduler of the run.</param>
/// <param name="model">The reference model.</param>
/// <param name="proxies">The current proxies.</param>
/// <param name="trace">The trace.</param>
internal sealed class Clients(Node node, Scheduler scheduler, ReferenceModel model, Func<IReadOnlyList<ProxyNode>> proxies, Trace trace)
{
    // Calls may end this much after their deadline: PendingReplies checks for overdue calls twenty times per second.
    private static readonly TimeSpan Late = TimeSpan.FromMilliseconds(60);

    private const int DeadlineMaxMs = 5000;

    // Calls may end this much before their deadline: the wire format has deadlines in whole microseconds.
    private const long Early = TimeSpan.TicksPerMicrosecond;

    private readonly Dictionary<string, long> _known = new(StringComparer.Ordinal);
    private int _turn;

    /// <summary>Number of operations that are not done.</summary>
    public int Open { get; private set; }

    /// <summary>Until when proxies were last frozen: calls to a frozen proxy take longer.</summary>
    public long FrozenUntil { get; set; }

    /// <summary>Whether any request was retried.</summary>
    public bool HasAskedAgain { get; private set; }

    /// <summary>Schedules an operation.</summary>
    public void Add(Operation operation)
    {
        Open++;
        scheduler.After(TimeSpan.FromMilliseconds(operation.AtMs), node, () => node.Supervisor.Watch("client", RunAsync(operation)));
    }

    /// <summary>The streams of all accounts that any schedule uses.</summary>
    public static IReadOnlyList<string> Streams { get; } = [.. Enumerable.Range(0, Schedule.AccountsMax + 1).Select(Stream)];

    /// <summary>The stream of an account.</summary>
    public static string Stream(int account) => StreamId.For(TypeOf(account), NameOf(account));

    private async Task RunAsync(Operation operation)
    {
        await (operation.Kind switch
        {
            OperationKind.Pay => PayAsync(operation, operation.Account, 0),
            OperationKind.PayTwice => Task.WhenAll(PayAsync(operation, operation.Account, 0), PayAsync(operation, operation.Account, 1)),
            OperationKind.PayTwoAccounts => Task.WhenAll(
                PayAsync(operation, operation.Account, 0), PayAsync(operation, operation.Account + 1, 1)),
            OperationKind.PayAndLeave => PayAndLeaveAsync(operation),
            OperationKind.SetLimit => SetLimitAsync(operation),
            _ => CheckAsync(operation),
        });
        Open--;
    }

    private async Task PayAsync(Operation operation, int account, int copy)
    {
        var request = PaymentOf(operation, account);
        model.Asked(operation.TransactionId, Stream(account), request.Amount);
        var reply = await CallAsync(
            operation, copy, () => new Command { TransactionId = request.TransactionId, Payment = request.Clone() },
            refusal => refusal.StatusCode == StatusCode.AlreadyExists && model.WasReused(operation.TransactionId));
        if (reply is not null)
        {
            model.Paid(operation.TransactionId, Stream(account), reply.Payment);
            Know(Stream(account), reply.Payment.Version);
        }
    }

    private async Task PayAndLeaveAsync(Operation operation)
    {
        var request = PaymentOf(operation, operation.Account);
        var stream = Stream(operation.Account);
        model.Asked(operation.TransactionId, stream, request.Amount);
        var command = new Command { TransactionId = request.TransactionId, Payment = request };
        if (!await IsTakenAsync(command, TimeSpan.FromMilliseconds(operation.DeadlineMs)))
        {
            await PayAsync(operation, operation.Account, 0);
            return;
        }
        var question = new PaymentStatusRequest { Payment = request, DeadlineUnixUs = command.DeadlineUnixUs };
        var reply = await CallAsync(
            operation, 0, () => new Command { TransactionId = request.TransactionId, PaymentStatus = question.Clone() }, _ => false);
        if (reply!.PaymentStatus.Payment is { } answer)
        {
            model.Paid(operation.TransactionId, stream, answer);
            Know(stream, answer.Version);
        }
        else
        {
            model.Failed(operation.TransactionId, reply.PaymentStatus.Error);
            reply = await CallAsync(
                operation, 1, () => new Command { TransactionId = request.TransactionId, Payment = request.Clone() },
                refusal => refusal.StatusCode == StatusCode.AlreadyExists);
            ReferenceModel.Require(reply is null, "a payment that was called failed was sent again and answered");
        }
    }

    private async Task<bool> IsTakenAsync(Command command, TimeSpan deadline)
    {
        try
        {
            return await proxies()[_turn++ % proxies().Count].TakeAsync(command, deadline);
        }
        catch (RpcException e)
        {
            trace.Write("client", "not taken: " + e.Status.StatusCode, Guid.Parse(command.TransactionId));
            HasAskedAgain = true;
            return false;
        }
    }

    private static MakePaymentRequest PaymentOf(Operation operation, int account) => new()
    {
        TransactionId = operation.TransactionId.ToString(),
        AccountId = NameOf(account),
        PaymentType = TypeOf(account),
        Amount = (operation.Cents / 100m).ToMoney(operation.Currency),
    };

    private async Task SetLimitAsync(Operation operation)
    {
        var request = new SetCreditLimitRequest
        {
            TransactionId = operation.TransactionId.ToString(),
            AccountId = NameOf(operation.Account),
            PaymentType = TypeOf(operation.Account),
            Limit = (operation.Cents / 20m).ToMoney(operation.Currency),
        };
        var stream = Stream(operation.Account);
        model.Asked(operation.TransactionId, stream, request.Limit);
        var reply = await CallAsync(
            operation, 0, () => new Command { TransactionId = request.TransactionId, CreditLimit = request.Clone() },
            refusal =>
            {
                if (refusal.StatusCode == StatusCode.FailedPrecondition)
                {
                    model.LimitRefused(stream, operation.Currency);
                    return true;
                }
                return false;
            });
        if (reply is not null)
        {
            model.Limited(operation.TransactionId, stream, reply.CreditLimit);
            Know(stream, reply.CreditLimit.Version);
        }
    }

    private async Task CheckAsync(Operation operation)
    {
        var stream = Stream(operation.Account);
        var request = new CheckBalanceRequest
        {
            AccountId = NameOf(operation.Account),
            PaymentType = TypeOf(operation.Account),
            MinVersion = operation.Seed % 3 == 0 ? 0 : _known.GetValueOrDefault(stream),
        };
        var reply = await CallAsync(
            operation, 0, () => new Command { TransactionId = operation.TransactionId.ToString(), Balance = request.Clone() }, _ => false);
        model.Checked(stream, request.MinVersion, reply!.Balance);
    }

    /// <summary>Retries until there is an answer.</summary>
    /// <returns>The reply; null if the request was refused for good.</returns>
    private async Task<Reply?> CallAsync(Operation operation, int copy, Func<Command> command, Func<RpcException, bool> isFinal)
    {
        var dice = new Dice(operation.Seed + copy);
        for (var tries = 0; ; tries++)
        {
            var proxy = proxies()[_turn++ % proxies().Count];
            var began = scheduler.Now;
            // The card network alone may take a second.
            var deadline = TimeSpan.FromMilliseconds(Math.Min(operation.DeadlineMs << Math.Min(tries, 10), DeadlineMaxMs));
            var request = command();
            try
            {
                var reply = await proxy.CallAsync(request, deadline);
                CheckWait(began, deadline);
                trace.Write(proxy.Node.Name, "answered", operation.TransactionId);
                return reply;
            }
            catch (RpcException e)
            {
                CheckWait(began, deadline);
                trace.Write(proxy.Node.Name, e.Status.StatusCode.ToString(), operation.TransactionId);
                if (isFinal(e))
                {
                    return null;
                }
                HasAskedAgain = true;
                // A question is answered so at once as long as it cannot be decided.
                var isQuestion = request.RequestCase == Command.RequestOneofCase.PaymentStatus;
                ReferenceModel.Require(
                    e.StatusCode != StatusCode.DeadlineExceeded || isQuestion || scheduler.Now - began >= deadline.Ticks - Early,
                    $"{operation} was told {e.Status} {TimeSpan.FromTicks(scheduler.Now - began)} after it asked");
                ReferenceModel.Require(
                    e.StatusCode is StatusCode.Unavailable or StatusCode.DeadlineExceeded or StatusCode.ResourceExhausted,
                    $"{operation} ended with {e.Status}");
            }
            await Task.Delay(dice.Between(TimeSpan.FromMilliseconds(20), TimeSpan.FromMilliseconds(400)), node.Time);
        }
    }

    private void CheckWait(long began, TimeSpan deadline)
    {
        var waited = TimeSpan.FromTicks(scheduler.Now - Math.Max(began, FrozenUntil));
        ReferenceModel.Require(waited <= deadline + Late, $"a call with a deadline of {deadline} took {waited}");
    }

    private void Know(string stream, long version) => _known[stream] = Math.Max(version, _known.GetValueOrDefault(stream));

    private static PaymentType TypeOf(int account) => account % 2 == 0 ? PaymentType.Visa : PaymentType.Amex;

    private static string NameOf(int account) => "acct-" + account.ToString(CultureInfo.InvariantCulture);
}
