using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text;
using Billing.Client.Connections;
using Billing.Hosting;
using Billing.Webhooks.Security;

namespace Billing.Webhooks;

/// <summary>Posts events to one receiver. It connects only to addresses that the rules allow, whatever the receiver's
/// name resolves to by then, follows no redirects, and reads nothing of the answer but its head. Thread-safe.</summary>
internal sealed class ReceiverClient : IReceiver, IDisposable
{
    private const int HeadKilobytesMax = 16;

    // A connection is used for no longer, so that the receiver's name is resolved again.
    private static readonly TimeSpan ConnectionAgeMax = TimeSpan.FromMinutes(2);

    private readonly Uri _url;
    private readonly WebhookSignature _signature;
    private readonly AddressRules _rules;
    private readonly Func<string, CancellationToken, Task<IPAddress[]>> _resolve;
    private readonly TimeSpan _timeout;
    private readonly TimeProvider _time;
    private readonly HttpClient _http;

    /// <param name="receiver">The receiver.</param>
    /// <param name="options">The settings for all receivers.</param>
    /// <param name="time">The clock.</param>
    /// <param name="resolve">Resolves names; the system's resolver if null.</param>
    public ReceiverClient(
        ReceiverOptions receiver, WebhookOptions options, TimeProvider time,
        Func<string, CancellationToken, Task<IPAddress[]>>? resolve = null)
    {
        _url = new Uri(receiver.Url);
        _signature = new WebhookSignature(receiver.Secret);
        _rules = new AddressRules(options.AllowedNetworks);
        _resolve = resolve ?? ((name, token) => Dns.GetHostAddressesAsync(name, token));
        (_timeout, _time) = (options.Timeout, time);
        _http = new HttpClient(new SocketsHttpHandler
        {
            ConnectCallback = ConnectAsync,
            UseProxy = false,
            AllowAutoRedirect = false,
            UseCookies = false,
            Credentials = null,
            // Who receives events need not know of traces.
            ActivityHeadersPropagator = null,
            MaxConnectionsPerServer = options.ConcurrencyMax,
            PooledConnectionLifetime = ConnectionAgeMax,
            MaxResponseHeadersLength = HeadKilobytesMax,
            MaxResponseDrainSize = 64 * 1024,
        })
        { Timeout = Timeout.InfiniteTimeSpan };
        _http.DefaultRequestHeaders.UserAgent.Add(new ProductInfoHeaderValue("billing-webhooks", null));
    }

    /// <inheritdoc/>
    public async Task<DeliveryFailure?> SendAsync(string id, string body)
    {
        var bytes = Encoding.UTF8.GetBytes(body);
        var timestamp = _time.AgreedClock().GetUtcNow().ToUnixTimeSeconds().ToString(CultureInfo.InvariantCulture);
        using var request = new HttpRequestMessage(HttpMethod.Post, _url) { Content = new ByteArrayContent(bytes) };
        request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        request.Headers.Add("webhook-id", id);
        request.Headers.Add("webhook-timestamp", timestamp);
        request.Headers.Add("webhook-signature", _signature.Sign(id, timestamp, bytes));
        using var bound = new CancellationTokenSource(_timeout, _time);
        try
        {
            using var response = await _http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, bound.Token);
            return response.IsSuccessStatusCode ? null : Refusal(response);
        }
        catch (OperationCanceledException)
        {
            return new DeliveryFailure("timeout", $"It did not answer within {_timeout}.");
        }
        catch (HttpRequestException e) when (e.InnerException is AddressRefusedException refused)
        {
            return new DeliveryFailure("address", refused.Message);
        }
        catch (HttpRequestException e)
        {
            return new DeliveryFailure(
                e.HttpRequestError == HttpRequestError.SecureConnectionError ? "tls" : "connection", e.Message);
        }
        catch (IOException e)
        {
            return new DeliveryFailure("connection", e.Message);
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    private DeliveryFailure Refusal(HttpResponseMessage response)
    {
        var status = ((int)response.StatusCode).ToString("D3", CultureInfo.InvariantCulture);
        TimeSpan? wait = response.StatusCode is HttpStatusCode.TooManyRequests or HttpStatusCode.ServiceUnavailable
            && response.Headers.RetryAfter is { } after
            ? after.Delta ?? after.Date - _time.AgreedClock().GetUtcNow()
            : null;
        return new DeliveryFailure(status, $"It answered {status}.", wait, response.StatusCode == HttpStatusCode.Gone);
    }

    // The address that was checked is the one that is connected to: the name is not resolved a second time.
    private async ValueTask<Stream> ConnectAsync(
        SocketsHttpConnectionContext context, CancellationToken cancellationToken)
    {
        var name = context.DnsEndPoint.Host;
        var addresses = await _resolve(name, cancellationToken);
        var allowed = Array.FindAll(addresses, _rules.Allows);
        if (allowed.Length == 0)
        {
            throw new AddressRefusedException(name, addresses);
        }
        var socket = await AddressRace.ConnectAsync(allowed, context.DnsEndPoint.Port, _ => { }, cancellationToken);
        return new NetworkStream(socket, ownsSocket: true);
    }

    private sealed class AddressRefusedException(string name, IPAddress[] addresses) : IOException(
        $"'{name}' is at {string.Join(", ", addresses.Select(address => address.ToString()))}, which is not public and "
        + "not in Billing:Webhooks:AllowedNetworks.");
}
