using System.Diagnostics.Metrics;
using System.Net;
using System.Security.Cryptography;
using Billing.Hosting;
using Billing.Operator.Credentials;
using Billing.UnitTests.Testing;
using Billing.V1;
using Grpc.Core;
using Microsoft.Extensions.Logging.Testing;

namespace Billing.UnitTests.Proxy.Security;

/// <summary>Client certificates that their authority has revoked.</summary>
public sealed class RevocationTests
{
    private static readonly Dictionary<string, string?> Listed = SecureProxy.Listed("shop", "stolen");

    private static readonly Dictionary<string, string?> Required =
        new(Listed) { ["Billing:Tls:RequireClientCertificate"] = "true" };

    private readonly ManualTime _time = new();

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_revoked_certificate_gets_no_connection_whether_the_list_is_PEM_or_DER(bool isPem)
    {
        var stolen = "";
        await using var proxy = await SecureProxy.StartAsync(Listed, _time, revoked: proxy =>
        {
            stolen = proxy.Authority.Client("stolen");
            return isPem ? Pem(List(proxy.Authority, stolen)) : List(proxy.Authority, stolen);
        });

        await proxy.Client(clientPem: proxy.Authority.Client("shop")).MakePaymentAsync(Samples.Payment());
        await NoConnectionAsync(proxy, stolen);

        Assert.Single(proxy.Backend.Commands);
    }

    [Fact]
    public async Task A_refused_certificate_that_is_revoked_is_counted_and_leaves_one_line_a_minute()
    {
        var stolen = "";
        var logs = new FakeLoggerProvider();
        await using var proxy = await SecureProxy.StartAsync(
            Listed, _time, logs: logs, revoked: proxy => List(proxy.Authority, stolen = proxy.Authority.Client("x")));
        var counted = new List<long>();
        using var meters = MeterOf(proxy, "billing.tls.revoked");
        meters.SetMeasurementEventCallback<long>((_, count, _, _) => counted.Add(count));
        meters.Start();

        for (var i = 0; i < 3; i++)
        {
            await NoConnectionAsync(proxy, stolen);
        }
        meters.RecordObservableInstruments();
        Assert.InRange(Assert.Single(counted), 3, long.MaxValue);
        var line = Assert.Single(Lines());
        Assert.StartsWith("CN=x (", line, StringComparison.Ordinal);
        Assert.Contains("was refused a connection from ", line, StringComparison.Ordinal);
        _time.Advance(TimeSpan.FromMinutes(2));
        await NoConnectionAsync(proxy, stolen);

        Assert.Equal(2, Lines().Count());

        IEnumerable<string> Lines() => logs.Collector.GetSnapshot().Select(record => record.Message)
            .Where(message => message.Contains("its certificate is revoked", StringComparison.Ordinal));
    }

    [Fact]
    public async Task A_list_is_reloaded_and_connections_whose_certificate_it_names_are_ended_with_their_streams()
    {
        await using var proxy = await SecureProxy.StartAsync(Listed, _time, revoked: proxy => List(proxy.Authority));
        var (shop, stolen) = (proxy.Authority.Client("shop"), proxy.Authority.Client("stolen"));
        var other = proxy.Client(clientPem: shop);
        var client = proxy.Client(clientPem: stolen);
        await client.MakePaymentAsync(Samples.Payment());
        using var kept = await StreamAsync(other);
        using var stream = await StreamAsync(client);

        await ReplaceAsync(proxy, List(proxy.Authority, stolen));

        await NoConnectionAsync(proxy, stolen);
        await Assert.ThrowsAsync<RpcException>(() => stream.ResponseStream.MoveNext(Stop));
        await Assert.ThrowsAsync<RpcException>(() => client.MakePaymentAsync(Samples.Payment()).ResponseAsync);
        await kept.RequestStream.WriteAsync(Samples.Payment(), Stop);
        Assert.True(await kept.ResponseStream.MoveNext(Stop));
    }

    [Fact]
    public async Task A_list_out_of_date_vouches_for_nobody_until_replaced_and_callers_with_tokens_are_served()
    {
        await using var proxy = await SecureProxy.StartAsync(Listed, _time, revoked: proxy => List(proxy.Authority));
        var shop = proxy.Authority.Client("shop");
        await proxy.Client(clientPem: shop).MakePaymentAsync(Samples.Payment());

        _time.Advance(TimeSpan.FromDays(2));

        await NoConnectionAsync(proxy, shop);
        using var issuer = TokenIssuer.Of(proxy.Tokens.Pem, _time);
        await proxy.Client(issuer.Issue("somebody", ["payments:write"], ["*/*"], TimeSpan.FromMinutes(5)))
            .MakePaymentAsync(Samples.Payment());
        Assert.Equal(HttpStatusCode.OK, await ReadyAsync(proxy));
        await ReplaceAsync(proxy, List(proxy.Authority));
        await proxy.Client(clientPem: shop).MakePaymentAsync(Samples.Payment());
    }

    [Fact]
    public async Task Metrics_say_for_how_long_the_certificate_and_the_list_are_valid_also_of_a_list_that_is_reloaded()
    {
        await using var proxy = await SecureProxy.StartAsync(Listed, _time, revoked: proxy => List(proxy.Authority));
        var observed = new Dictionary<string, double>();
        using var meters = MeterOf(proxy, "billing.tls.validity");
        meters.SetMeasurementEventCallback<double>((_, left, tags, _) => observed[(string)tags[0].Value!] = left);
        meters.Start();

        _time.Advance(TimeSpan.FromHours(2));
        meters.RecordObservableInstruments();
        var before = observed["revocation_list"];
        await ReplaceAsync(proxy, List(proxy.Authority));
        meters.RecordObservableInstruments();

        // A list is made for a day, and replaced two seconds after it was made.
        Assert.Equal(
            (TimeSpan.FromHours(22).TotalSeconds, TimeSpan.FromDays(1).TotalSeconds - 2),
            (before, observed["revocation_list"]));
        Assert.InRange(observed["certificate"], 0, double.MaxValue);
    }

    [Fact]
    public async Task Where_a_certificate_is_required_a_proxy_whose_list_is_out_of_date_is_not_ready()
    {
        await using var proxy = await SecureProxy.StartAsync(
            Required, _time, tokens: false, revoked: proxy => List(proxy.Authority));
        var readiness = (Readiness)proxy.Host.Services.GetService(typeof(Readiness))!;
        Assert.Empty(readiness.Reasons);

        _time.Advance(TimeSpan.FromDays(2));

        Assert.Equal(
            "the list of revoked certificates of CN=Billing test CA is out of date", Assert.Single(readiness.Reasons));
    }

    [Fact]
    public async Task A_reloaded_list_of_another_authority_is_not_used()
    {
        await using var proxy = await SecureProxy.StartAsync(Listed, _time, revoked: proxy => List(proxy.Authority));
        using var stranger = new CertificateAuthority("Billing test CA", TimeProvider.System);
        var shop = proxy.Authority.Client("shop");

        await ReplaceAsync(proxy, List(stranger, shop));

        await proxy.Client(clientPem: shop).MakePaymentAsync(Samples.Payment());
    }

    [Fact]
    public async Task A_list_that_cannot_be_used_at_start_is_reported_with_its_setting()
    {
        using var stranger = new CertificateAuthority("Another CA", TimeProvider.System);

        await RefusedAsync(
            "The list of 'CN=Another CA' is not signed by one of the authorities in ClientCaFile.",
            _ => List(stranger));
        await RefusedAsync("It has no list of 'CN=Billing test CA'.", _ => "nothing"u8.ToArray());
        await RefusedAsync("It is not a list of revoked certificates: ", _ => [0x30, 0x03, 0x02, 0x01, 0x01]);
        await RefusedAsync("It is not a list of revoked certificates: ", proxy => [.. List(proxy.Authority), 0]);
        await RefusedAsync(
            "is not signed by one of the authorities",
            proxy => Changed(List(proxy.Authority, proxy.Authority.Client("shop"))));
    }

    private static MeterListener MeterOf(SecureProxy proxy, string name) => new()
    {
        InstrumentPublished = (instrument, listener) =>
        {
            if (instrument.Name == name
                && instrument.Meter.Scope == proxy.Host.Services.GetService(typeof(IMeterFactory)))
            {
                listener.EnableMeasurementEvents(instrument);
            }
        },
    };

    private byte[] List(CertificateAuthority authority, params string[] revoked) =>
        authority.RevocationList(revoked, _time.GetUtcNow(), _time.GetUtcNow() + TimeSpan.FromDays(1));

    private static byte[] Pem(byte[] list) =>
        System.Text.Encoding.ASCII.GetBytes(PemEncoding.WriteString("X509 CRL", list));

    // The last byte of the signature.
    private static byte[] Changed(byte[] list)
    {
        list[^1] ^= 1;
        return list;
    }

    private async Task ReplaceAsync(SecureProxy proxy, byte[] list)
    {
        await File.WriteAllBytesAsync(proxy.CrlFile, list, Stop);
        _time.Advance(TimeSpan.FromSeconds(2));
    }

    private static async Task<AsyncDuplexStreamingCall<MakePaymentRequest, MakePaymentsResponse>> StreamAsync(
        BillingService.BillingServiceClient client)
    {
        var stream = client.MakePayments(cancellationToken: Stop);
        await stream.RequestStream.WriteAsync(Samples.Payment(), Stop);
        Assert.True(await stream.ResponseStream.MoveNext(Stop));
        return stream;
    }

    private static async Task NoConnectionAsync(SecureProxy proxy, string clientPem)
    {
        var refused = await Assert.ThrowsAsync<RpcException>(
            () => proxy.Client(clientPem: clientPem).MakePaymentAsync(Samples.Payment()).ResponseAsync);
        Assert.Contains(refused.StatusCode, (StatusCode[])[StatusCode.Internal, StatusCode.Unavailable]);
    }

    private static async Task<HttpStatusCode> ReadyAsync(SecureProxy proxy)
    {
        using var http = proxy.Http();
        using var answer = await http.GetAsync(new Uri(proxy.Rest, "/health/ready"), Stop);
        return answer.StatusCode;
    }

    private async Task RefusedAsync(string why, Func<SecureProxy, byte[]> list)
    {
        var refused = await Assert.ThrowsAsync<StartupException>(async () =>
        {
            await using var proxy = await SecureProxy.StartAsync(Listed, _time, revoked: list);
        });
        Assert.Contains("Billing:Tls:ClientCrlFile (", refused.Message, StringComparison.Ordinal);
        Assert.Contains(why, refused.Message, StringComparison.Ordinal);
    }
}
