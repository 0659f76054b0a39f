using System.Threading.Channels;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>A payment in flight: read from the requests, of which it is the one with this number,
/// and not yet answered.</summary>
internal sealed class InFlightPayment(long number, MakePaymentRequest request)
{
    public long Number => number;

    public MakePaymentRequest Request => request;

    /// <summary>Number of answers with a failure that can be retried.</summary>
    public int Failures { get; set; }

    /// <summary>Whether it was sent at least once.</summary>
    public bool WasSent { get; set; }

    /// <summary>Whether a sending before the current one may have been recorded.</summary>
    public bool MayBeRecorded { get; set; }

    /// <summary>Whether it waits for the back-off between such a failure and the retry.</summary>
    public bool IsBackingOff { get; set; }
}

/// <summary>An answer for the caller.</summary>
/// <param name="Message">The answer.</param>
/// <param name="IsFirstTry">Whether no earlier sending of the payment may have been recorded.</param>
internal readonly record struct BulkAnswer(MakePaymentsResponse Message, bool IsFirstTry);

/// <summary>The payments in flight of one bulk run: read from the requests, sent, and kept until they are answered.
/// Thread-safe.</summary>
internal sealed class InFlightPayments(RetryPolicy retries)
{
    private readonly Lock _gate = new();

    // A list for each id, because a caller may send the same payment twice: then two answers are expected.
    private readonly Dictionary<string, List<InFlightPayment>> _unanswered = new(StringComparer.Ordinal);

    private readonly Channel<InFlightPayment> _outbox =
        Channel.CreateUnbounded<InFlightPayment>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Channel<BulkAnswer> _answers =
        Channel.CreateUnbounded<BulkAnswer>(new UnboundedChannelOptions { SingleReader = true });

    private long _taken;
    private long _answered;
    private bool _noMore;
    private Exception? _fault;

    /// <summary>Payments to send, in order; completes when all payments are answered.</summary>
    public ChannelReader<InFlightPayment> Outbox => _outbox.Reader;

    /// <summary>Answers for the caller; completes when all payments are answered, with the exception of the requests
    /// if there was one.</summary>
    public ChannelReader<BulkAnswer> Answers => _answers.Reader;

    public long Answered => Interlocked.Read(ref _answered);

    /// <summary>Whether the requests have ended and all payments are answered.</summary>
    public bool IsDone => _outbox.Reader.Completion.IsCompleted;

    public void Add(MakePaymentRequest request)
    {
        lock (_gate)
        {
            var payment = new InFlightPayment(_taken++, request);
            if (!_unanswered.TryGetValue(request.TransactionId, out var copies))
            {
                _unanswered[request.TransactionId] = copies = new List<InFlightPayment>(1);
            }
            copies.Add(payment);
            _outbox.Writer.TryWrite(payment);
        }
    }

    /// <param name="fault">The exception that ended them early, if any.</param>
    public void CompleteRequests(Exception? fault)
    {
        lock (_gate)
        {
            _noMore = true;
            _fault = fault;
            CompleteIfDone();
        }
    }

    /// <summary>Puts all unanswered payments into the outbox, in the order of the requests,
    /// after the end of a stream.</summary>
    /// <param name="mayBeRecorded">Whether those that were sent over it may have been recorded.</param>
    public void SendUnansweredAgain(bool mayBeRecorded)
    {
        lock (_gate)
        {
            while (_outbox.Reader.TryRead(out _))
            {
                // It is also among the unanswered payments.
            }
            foreach (var payment in Unanswered())
            {
                payment.IsBackingOff = false;
                payment.MayBeRecorded |= payment.WasSent && mayBeRecorded;
                _outbox.Writer.TryWrite(payment);
            }
        }
    }

    /// <summary>Processes an answer; unexpected answers are dropped.</summary>
    /// <returns>The payment, if it is to be retried; see <see cref="SendAgain"/>.</returns>
    public InFlightPayment? Take(MakePaymentsResponse answer)
    {
        lock (_gate)
        {
            if (!_unanswered.TryGetValue(answer.TransactionId, out var copies)
                || copies.Find(copy => copy.WasSent && !copy.IsBackingOff) is not { } payment)
            {
                return null;
            }
            if (answer.Error is { } error && retries.Handles(error, ++payment.Failures))
            {
                payment.IsBackingOff = true;
                payment.MayBeRecorded = true;
                return payment;
            }
            copies.Remove(payment);
            if (copies.Count == 0)
            {
                _unanswered.Remove(answer.TransactionId);
            }
            Answer(payment, answer);
            CompleteIfDone();
            return null;
        }
    }

    /// <summary>Sends a payment again after its back-off, unless a new stream has sent it already.</summary>
    public void SendAgain(InFlightPayment payment)
    {
        lock (_gate)
        {
            if (payment.IsBackingOff)
            {
                payment.IsBackingOff = false;
                _outbox.Writer.TryWrite(payment);
            }
        }
    }

    /// <summary>Ends the run because no proxy accepts the stream: answers the payments in flight as failed.</summary>
    public void GiveUp(RpcException failure)
    {
        lock (_gate)
        {
            foreach (var payment in Unanswered())
            {
                Answer(payment, new MakePaymentsResponse
                {
                    TransactionId = payment.Request.TransactionId,
                    Error = new PaymentError
                    {
                        StatusCode = (int)Outcomes.OfPayments(failure),
                        Reason = ProxyFailure.Reason(failure),
                        Message = ProxyFailure.Message(failure),
                    },
                });
            }
            _unanswered.Clear();
            _fault = _noMore ? _fault : failure;
            _noMore = true;
            CompleteIfDone();
        }
    }

    private IOrderedEnumerable<InFlightPayment> Unanswered() =>
        _unanswered.Values.SelectMany(copies => copies).OrderBy(payment => payment.Number);

    private void Answer(InFlightPayment payment, MakePaymentsResponse answer)
    {
        Interlocked.Increment(ref _answered);
        _answers.Writer.TryWrite(new BulkAnswer(answer, !payment.MayBeRecorded));
    }

    private void CompleteIfDone()
    {
        if (_noMore && _unanswered.Count == 0)
        {
            _outbox.Writer.TryComplete();
            _answers.Writer.TryComplete(_fault);
        }
    }
}
