using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Security.Cryptography.X509Certificates;
using System.Text.RegularExpressions;
using Billing.Hosting;
using Billing.V1;
using Grpc.Core;
using Grpc.Net.Client;

namespace Billing.Operator.Doctor;

/// <summary>Asks proxies as a stranger would, without credentials, and every service as an operator would.</summary>
internal static partial class ProxyChecks
{
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan RenewBefore = TimeSpan.FromDays(14);

    // As the alert BillingRevocationListDue.
    private static readonly TimeSpan ListRenewBefore = TimeSpan.FromHours(6);

    private const string Parked = "parked_accounts";

    // As the alert BillingWebhooksLate.
    private static readonly TimeSpan DeliveredWithin = TimeSpan.FromMinutes(15);

    /// <summary>Asks a proxy for a balance, at the address where callers ask.</summary>
    public static async Task<IReadOnlyList<Finding>> OfCallersAsync(string address, TimeProvider time)
    {
        DateTime? valid = null;
        using var handler = Handler(until => valid = until);
        using var channel = GrpcChannel.ForAddress(address, new GrpcChannelOptions { HttpHandler = handler });
        var findings = new List<Finding>();
        // It names no account and is refused in any case, but who asks is looked at first.
        var refused = await StatusOfAsync(new BillingService.BillingServiceClient(channel).CheckBalanceAsync(
            new CheckBalanceRequest(), deadline: (time.GetUtcNow() + Patience).UtcDateTime));
        if (refused is StatusCode.Unavailable or StatusCode.DeadlineExceeded or StatusCode.Internal)
        {
            // Where a client certificate is required, there is a handshake and no connection.
            findings.AddRange(valid is null ? [new Finding(true, $"{address} does not answer", "Urls")] : []);
        }
        else if (refused != StatusCode.Unauthenticated)
        {
            findings.Add(Finding.At(
                address, "answers callers that it does not know",
                "Billing:Auth:JwksFile, Authority, Certificates"));
        }
        if (address.StartsWith("http:", StringComparison.Ordinal))
        {
            findings.Add(Finding.At(
                address, "has no TLS: payments and tokens can be read on the way", "Billing:Tls:CertificateFile"));
        }
        else if (valid - time.GetUtcNow().UtcDateTime is { } left && left < RenewBefore)
        {
            findings.Add(new Finding(
                left < TimeSpan.Zero,
                string.Create(
                    CultureInfo.InvariantCulture, $"{address} has a certificate that is valid until {valid:u}"),
                "Billing:Tls:CertificateFile"));
        }
        return findings;
    }

    /// <summary>Asks services for their readiness and metrics, at the addresses where operators ask.</summary>
    public static async Task<IReadOnlyList<Finding>> OfOperatorsAsync(IEnumerable<string> addresses)
    {
        var findings = new List<Finding>();
        var releases = new Dictionary<string, string>();
        var receivers = new Dictionary<(string Receiver, string Metric), double>();
        foreach (var address in addresses)
        {
            try
            {
                using var http =
                    new HttpClient(Handler(_ => { })) { Timeout = Patience, BaseAddress = new Uri(address) };
                using var ready = await http.GetAsync(new Uri("/health/ready", UriKind.Relative));
                using var metrics = await http.GetAsync(new Uri("/metrics", UriKind.Relative));
                var shown = await metrics.Content.ReadAsStringAsync();
                findings.AddRange(ready.IsSuccessStatusCode ? [] :
                [
                    new Finding(true, $"{address} is {await ready.Content.ReadAsStringAsync()}", "its log says why"),
                ]);
                findings.AddRange(metrics.IsSuccessStatusCode
                    ? []
                    : [new Finding(false, $"{address} shows no metrics", "Billing:Telemetry:Prometheus")]);
                findings.AddRange(!Unlimited().IsMatch(shown) ? [] : [new Finding(
                    false, $"{address} takes any number of calls per second from one caller",
                    "Billing:Limits:RequestsPerSecond")]);
                findings.AddRange(OfRevocationList(address, shown));
                findings.AddRange(OfClocks(address, shown));
                // Each service that sends events reports what waits for all of them.
                foreach (var groups in Waiting().Matches(shown).Select(waiting => waiting.Groups))
                {
                    receivers[(groups[2].Value, groups[1].Value)] = double.Parse(
                        groups[3].Value, CultureInfo.InvariantCulture);
                }
                if (Release().Match(shown) is { Success: true } release)
                {
                    releases[address] = release.Groups[1].Value;
                }
            }
            catch (Exception e) when (e is HttpRequestException or TaskCanceledException)
            {
                findings.Add(new Finding(
                    true, $"{address} does not answer: {e.Message}", "Billing:Admin:Url; Urls of a backend"));
            }
        }
        findings.AddRange(from receiver in receivers
                          where receiver.Value > (receiver.Key.Metric == Parked ? 0 : DeliveredWithin.TotalSeconds)
                          let what = receiver.Key.Metric == Parked
                              ? $"gets no events of {receiver.Value} accounts: they are parked"
                              : $"has not taken an event for {TimeSpan.FromSeconds(Math.Round(receiver.Value))}"
                          select new Finding(
                              false, $"the receiver {receiver.Key.Receiver} {what}", "./billing webhooks list"));
        var common = releases.Values.CountBy(release => release).OrderBy(release => release.Value).LastOrDefault().Key;
        return [.. findings, .. releases.Where(release => release.Value != common).Select(other => new Finding(
            false, $"{other.Key} runs {other.Value}, most others {common}", "upgrade.sh VERSION SHA256"))];
    }

    private static IEnumerable<Finding> OfRevocationList(string address, string metrics)
    {
        if (ListValidity().Match(metrics) is { Success: true } list
            && double.Parse(list.Groups[1].Value, CultureInfo.InvariantCulture) is var left
            && left < ListRenewBefore.TotalSeconds)
        {
            var what = left <= 0
                ? "is out of date: nobody can connect with one"
                : $"is out of date in {TimeSpan.FromSeconds(Math.Round(left))}";
            yield return new Finding(
                left <= 0, $"{address} has a list of revoked client certificates that {what}",
                "Billing:Tls:ClientCrlFile");
        }
    }

    // The machine's own clock is meant where no other is named.
    private static IEnumerable<Finding> OfClocks(string address, string metrics) =>
        from clock in Clock().Matches(metrics)
        let ahead = double.Parse(clock.Groups[2].Value, CultureInfo.InvariantCulture)
        where Math.Abs(ahead) > ClockVote.Tolerance.TotalSeconds
        let whose = clock.Groups[1].Value is { Length: > 0 } other ? other : $"the machine of {address}"
        select new Finding(
            true,
            string.Create(
                CultureInfo.InvariantCulture,
                $"the clock of {whose} is {Math.Abs(ahead):0} s {(ahead > 0 ? "ahead" : "behind")}, as {address} says"),
            "chronyc tracking");

    private static async Task<StatusCode> StatusOfAsync(AsyncUnaryCall<CheckBalanceResponse> call)
    {
        try
        {
            await call;
            return StatusCode.OK;
        }
        catch (RpcException e)
        {
            return e.StatusCode;
        }
    }

    [SuppressMessage(
        "Security", "CA5359",
        Justification = "Nothing is sent that is not for strangers, and the certificate is what is looked at.")]
    private static SocketsHttpHandler Handler(Action<DateTime> seen)
    {
        var handler = new SocketsHttpHandler();
        handler.SslOptions.RemoteCertificateValidationCallback = (_, certificate, _, _) =>
        {
            seen(((X509Certificate2)certificate!).NotAfter.ToUniversalTime());
            return true;
        };
        return handler;
    }

    [GeneratedRegex("""^billing_proxy_caller_rate_limit\S* 0( |$)""", RegexOptions.Multiline)]
    private static partial Regex Unlimited();

    [GeneratedRegex(
        """^billing_webhooks_(parked_accounts|oldest_age_seconds)\{[^}]*billing_receiver="([^"]*)"[^}]*\} (\S+)""",
        RegexOptions.Multiline)]
    private static partial Regex Waiting();

    [GeneratedRegex(
        """^billing_tls_validity_seconds\{[^}]*billing_tls_file="revocation_list"[^}]*\} (\S+)""",
        RegexOptions.Multiline)]
    private static partial Regex ListValidity();

    [GeneratedRegex(
        """^billing_clock_(?:other_)?difference_seconds(?:\{(?:[^}]*billing_clock="([^"]*)")?[^}]*\})? (\S+)""",
        RegexOptions.Multiline)]
    private static partial Regex Clock();

    [GeneratedRegex("""^target_info\{.*service_version="([^"+]*)""", RegexOptions.Multiline)]
    private static partial Regex Release();
}
