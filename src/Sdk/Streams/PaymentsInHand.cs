using System.Threading.Channels;
using Billing.V1;
using Grpc.Core;

namespace Billing.Client;

/// <summary>A payment that was taken and has no answer yet.</summary>
/// <param name="number">Its place in the order of the requests.</param>
/// <param name="request">The payment.</param>
internal sealed class PaymentInHand(long number, MakePaymentRequest request)
{
    public long Number => number;

    public MakePaymentRequest Request => request;

    /// <summary>How often it was answered with a failure that is tried again.</summary>
    public int Failures { get; set; }

    /// <summary>Whether it was ever sent.</summary>
    public bool WasSent { get; set; }

    /// <summary>Whether it rests between such a failure and the next try.</summary>
    public bool Rests { get; set; }
}

/// <summary>The payments of one bulk run: taken from the requests, sent, and kept until they are answered, as many at a time
/// as the window has places. Safe from any thread.</summary>
internal sealed class PaymentsInHand(int window, RetryPolicy retries) : IDisposable
{
    private readonly Lock _gate = new();
    private readonly SemaphoreSlim _places = new(window);

    // A list each, because nothing keeps a caller from sending the same payment twice: then there are two answers to come.
    private readonly Dictionary<string, List<PaymentInHand>> _unanswered = new(StringComparer.Ordinal);

    private readonly Channel<PaymentInHand> _outbox =
        Channel.CreateUnbounded<PaymentInHand>(new UnboundedChannelOptions { SingleReader = true });

    private readonly Channel<MakePaymentResponse> _answers =
        Channel.CreateUnbounded<MakePaymentResponse>(new UnboundedChannelOptions { SingleReader = true });

    private long _taken;
    private long _answered;
    private bool _noMore;
    private Exception? _fault;

    /// <summary>Payments to send, in order; ends when all is answered.</summary>
    public ChannelReader<PaymentInHand> Outbox => _outbox.Reader;

    /// <summary>Answers to hand on; ends when all is answered, with the fault of the requests if they had one.</summary>
    public ChannelReader<MakePaymentResponse> Answers => _answers.Reader;

    /// <summary>Payments answered so far.</summary>
    public long Answered => Interlocked.Read(ref _answered);

    /// <summary>Whether there is nothing to send and no answer to wait for, and never will be.</summary>
    public bool IsDone => _outbox.Reader.Completion.IsCompleted;

    /// <summary>Whether some payment has no answer.</summary>
    public bool IsWaiting
    {
        get
        {
            lock (_gate)
            {
                return _unanswered.Count > 0;
            }
        }
    }

    /// <summary>Waits until there is room for one more payment.</summary>
    public Task WaitForPlaceAsync(CancellationToken cancellationToken) => _places.WaitAsync(cancellationToken);

    /// <summary>An answer was handed on: there is room for one more.</summary>
    public void FreePlace() => _places.Release();

    /// <summary>Takes a payment.</summary>
    public void Add(MakePaymentRequest request)
    {
        lock (_gate)
        {
            var payment = new PaymentInHand(_taken++, request);
            if (!_unanswered.TryGetValue(request.TransactionId, out var copies))
            {
                _unanswered[request.TransactionId] = copies = new List<PaymentInHand>(1);
            }
            copies.Add(payment);
            _outbox.Writer.TryWrite(payment);
        }
    }

    /// <summary>There are no more requests.</summary>
    /// <param name="fault">Why they ended before their end, if they did.</param>
    public void NoMore(Exception? fault)
    {
        lock (_gate)
        {
            _noMore = true;
            _fault = fault;
            CompleteIfDone();
        }
    }

    /// <summary>A new stream begins: what it has to send first, in the order it was taken. The outbox holds what comes after.
    /// </summary>
    public List<PaymentInHand> BeginStream()
    {
        lock (_gate)
        {
            while (_outbox.Reader.TryRead(out _))
            {
                // It is among the unanswered ones.
            }
            var all = _unanswered.Values.SelectMany(copies => copies).OrderBy(payment => payment.Number).ToList();
            all.ForEach(payment => payment.Rests = false);
            return all;
        }
    }

    /// <summary>Takes an answer in; one that nobody waits for is dropped.</summary>
    /// <returns>The payment, where it is to be sent again; see <see cref="SendAgain"/>.</returns>
    public PaymentInHand? Take(MakePaymentResponse answer)
    {
        lock (_gate)
        {
            if (!_unanswered.TryGetValue(answer.TransactionId, out var copies)
                || copies.Find(copy => copy.WasSent && !copy.Rests) is not { } payment)
            {
                return null;
            }
            if (answer.Outcome == PaymentOutcome.Failed && answer.Error is { } error
                && retries.Handles(error, ++payment.Failures))
            {
                payment.Rests = true;
                return payment;
            }
            copies.Remove(payment);
            if (copies.Count == 0)
            {
                _unanswered.Remove(answer.TransactionId);
            }
            Answer(answer);
            CompleteIfDone();
            return null;
        }
    }

    /// <summary>The payment has rested; a new stream may have sent it already.</summary>
    public void SendAgain(PaymentInHand payment)
    {
        lock (_gate)
        {
            if (payment.Rests)
            {
                payment.Rests = false;
                _outbox.Writer.TryWrite(payment);
            }
        }
    }

    /// <summary>No proxy takes the stream: answers what is in hand as failed, and ends.</summary>
    public void GiveUp(RpcException failure)
    {
        lock (_gate)
        {
            var error = new PaymentError
            {
                StatusCode = (int)failure.StatusCode,
                Reason = BillingClient.Reason(failure),
                Message = failure.Status.Detail,
            };
            foreach (var payment in _unanswered.Values.SelectMany(copies => copies).OrderBy(payment => payment.Number))
            {
                Answer(new MakePaymentResponse
                {
                    TransactionId = payment.Request.TransactionId,
                    Outcome = PaymentOutcome.Failed,
                    Error = error,
                });
            }
            _unanswered.Clear();
            _fault = _noMore ? _fault : failure;
            _noMore = true;
            CompleteIfDone();
        }
    }

    public void Dispose() => _places.Dispose();

    private void Answer(MakePaymentResponse answer)
    {
        Interlocked.Increment(ref _answered);
        _answers.Writer.TryWrite(answer);
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
