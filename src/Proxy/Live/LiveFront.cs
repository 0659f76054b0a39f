using System.Text.Json;
using Billing.Contracts;
using Billing.Proxy.Failures;
using Billing.Proxy.Limits;
using Billing.Proxy.Rest;
using Billing.Proxy.Security;
using Grpc.Core;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.Options;

namespace Billing.Proxy.Live;

internal sealed class LiveFront(
    Watchers watchers, LiveWatch watch, LiveView view, Admission admission,
    PaymentRoute payments, IOptions<LiveOptions> options)
{
    /// <summary>The response header with the steps of a payment, as JSON.</summary>
    public const string StepsHeader = "billing-steps";

    /// <summary>Sends the events, second by second, until the page is closed or has to ask for them again.</summary>
    public async Task WatchAsync(HttpContext http)
    {
        var caller = Caller.Of(http);
        if (!caller.MayAccessAll)
        {
            RestFailure.Write(http.Response, new Failure(
                StatusCode.PermissionDenied, ErrorReasons.AccountNotAllowed,
                "The page shows payments of all accounts, and the caller's token does not include all of them (*/*)."));
            return;
        }
        using var watcher = watchers.TryEnter(http.Features.GetRequiredFeature<IHttpRequestLifetimeFeature>().Abort);
        if (watcher is null)
        {
            RestFailure.Write(http.Response, StatusCodes.Status503ServiceUnavailable, null,
                $"{options.Value.WatchersMax} pages watch already, which is the limit (Billing:Live:WatchersMax).");
            return;
        }
        http.Response.ContentType = "text/event-stream";
        if (RestServices.IsHead(http))
        {
            return;
        }
        http.Features.Get<IHttpResponseBodyFeature>()?.DisableBuffering();
        using var ending = admission.EndOf(http);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(http.RequestAborted, ending.Token);
        try
        {
            await WriteEventsAsync(http, watcher, ending, end.Token);
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested)
        {
            // The page is closed or was cut off, or has to open another stream.
        }
    }

    /// <summary>Makes a payment as the REST front does, and adds when each step was taken. The steps are known,
    /// since a page that makes a payment also watches.</summary>
    public async Task<IResult> PayAsync(string transactionId, HttpContext http)
    {
        var own = LiveRecord.TimeNext();
        var answer = await payments.PayAsync(transactionId, http);
        if (own.Steps is { } steps)
        {
            http.Response.Headers[StepsHeader] = JsonSerializer.Serialize(steps, LiveJson.Default.TimedPayment);
        }
        return answer;
    }

    private async Task WriteEventsAsync(HttpContext http, Watcher watcher, StreamEnd ending, CancellationToken end)
    {
        await SendAsync(view.Hello(watch.Begin()));
        await foreach (var message in watcher.Messages(end))
        {
            await SendAsync(message);
        }

        async Task SendAsync(ReadOnlyMemory<byte> message)
        {
            end.ThrowIfCancellationRequested();
            // It completes, or the page is disconnected: after a write that was cancelled, the server may not send the
            // end of the response, and the page would wait for it.
            var write = WriteAsync(message);
            if (!await ending.WaitAsync(write))
            {
                http.Abort();
            }
            await write;
        }

        async Task WriteAsync(ReadOnlyMemory<byte> message)
        {
            await http.Response.Body.WriteAsync(message, http.RequestAborted);
            await http.Response.Body.FlushAsync(http.RequestAborted);
        }
    }
}
