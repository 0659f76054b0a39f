using System.Globalization;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Billing.Rehearsal.Listening;
using Billing.Rehearsal.Machines;
using Billing.Rehearsal.Network;

namespace Billing.DeploymentTests.Rehearsal;

/// <summary>An eavesdropper on a real router between two network namespaces, in different zones.</summary>
[Collection(nameof(MachineNetwork))]
public sealed class EavesdropperTests : IAsyncLifetime
{
    private const int Port = 9092;
    private const string Text = "pay acct-17 now";

    private static readonly string Tag = Environment.ProcessId.ToString(CultureInfo.InvariantCulture);
    private static readonly Machine Client = New("client", "a", "10.99.0.62");
    private static readonly Machine Proxy = New("proxy", "b", "10.99.1.32");
    private static readonly Topology Machines =
        new([Client, Proxy], [new("client", "proxy", Port)], new Dictionary<string, string>());

    private MachineNetwork? _network;
    private Eavesdropper? _eavesdropper;

    public async ValueTask InitializeAsync()
    {
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "network namespaces need root");
        ExternalTool.Need("ip");
        ExternalTool.Need("nft");
        ExternalTool.Need("sysctl");
        _network = await MachineNetwork.BuildAsync(
            Machines, TimeSpan.FromMilliseconds(1), TestContext.Current.CancellationToken);
        _eavesdropper = Eavesdropper.Open(MachineNetwork.NamespacePath(MachineNetwork.Router));
    }

    public async ValueTask DisposeAsync()
    {
        _eavesdropper?.Dispose();
        _network?.Dispose();
        if (Environment.IsPrivilegedProcess && ExternalTool.Find("ip") is { } ip)
        {
            foreach (var name in (string[])[MachineNetwork.Router, Client.Name, Proxy.Name])
            {
                await ExternalTool.RunAsync(ip, ["netns", "delete", name]);
            }
        }
    }

    [Fact]
    public async Task What_goes_in_clear_either_way_is_read_and_counted_once_although_it_crosses_zones()
    {
        var (client, proxy) = await ConnectAsync();
        using (client)
        using (proxy)
        {
            await SendAsync(client, proxy, Text);
            await SendAsync(proxy, client, "answer about acct-4 and acct-5 ");
        }

        var heard = _eavesdropper!.Conclude().Judge(Machines);

        Assert.Equal(
            [
                "client to proxy at 9092: an eavesdropper reads an account, 3 times",
                "client to proxy at 9092: 46 of 46 bytes are not encrypted",
            ],
            heard.Amiss);
        Assert.Equal((46, 0, 0), (heard.Bytes, heard.Dropped, heard.UnreadPercent));
        Assert.True(heard.Packets > 0);
    }

    [Fact]
    public async Task A_needle_that_comes_in_two_packets_is_read()
    {
        var (client, proxy) = await ConnectAsync();
        using (client)
        using (proxy)
        {
            // The first part has arrived when the second one leaves.
            await SendAsync(client, proxy, Text[..6]);
            await SendAsync(client, proxy, Text[6..]);
        }

        Assert.Contains(
            "client to proxy at 9092: an eavesdropper reads an account, 1 times",
            _eavesdropper!.Conclude().Judge(Machines).Amiss);
    }

    [Fact]
    public async Task Nothing_is_read_of_what_goes_through_TLS()
    {
        using var certificate = Certificate();
        var (client, proxy) = await ConnectAsync();
        await using var server = new SslStream(new NetworkStream(proxy, ownsSocket: true));
        await using var caller = new SslStream(
            new NetworkStream(client, ownsSocket: true), leaveInnerStreamOpen: false,
            (_, shown, _, _) => shown is not null);
        await Task.WhenAll(
            server.AuthenticateAsServerAsync(certificate), caller.AuthenticateAsClientAsync("proxy"));
        for (var times = 0; times < 100; times++)
        {
            await caller.WriteAsync(Encoding.ASCII.GetBytes(Text), TestContext.Current.CancellationToken);
            await server.ReadExactlyAsync(new byte[Text.Length], TestContext.Current.CancellationToken);
        }

        var heard = _eavesdropper!.Conclude().Judge(Machines);

        Assert.Empty(heard.Amiss);
        var link = Assert.Single(heard.Links);
        Assert.Equal(("client", "proxy", "9092", 100.0), (link.From, link.To, link.Port, link.TlsPercent));
        Assert.True(link.Bytes > 100 * Text.Length);
        Assert.Empty(link.Found);
    }

    [Fact]
    public async Task A_secret_that_is_made_while_it_listens_is_read_and_so_is_the_one_before()
    {
        var folder = Directory.CreateTempSubdirectory("billing-overheard-");
        try
        {
            var file = Path.Combine(folder.FullName, "door");
            File.WriteAllText(file, "correct-horse-battery");
            _eavesdropper!.Learn(folder.FullName);
            File.WriteAllText(file, "other-horse-battery");
            _eavesdropper.Learn(folder.FullName);
            var (client, proxy) = await ConnectAsync();
            using (client)
            using (proxy)
            {
                await SendAsync(client, proxy, "correct-horse-battery other-horse-battery");
            }

            Assert.Contains(
                "client to proxy at 9092: an eavesdropper reads the secret door, 2 times",
                _eavesdropper.Conclude().Judge(Machines).Amiss);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task Large_answers_are_read_whole()
    {
        const int Size = 8_000_000;
        var (client, proxy) = await ConnectAsync();
        using (client)
        using (proxy)
        {
            var filling = new string('.', Size - Text.Length);
            await SendAsync(proxy, client, filling + Text);
        }

        var heard = _eavesdropper!.Conclude().Judge(Machines);

        Assert.Equal((Size, 0, 0), (heard.Bytes, heard.Dropped, heard.UnreadPercent));
        Assert.Contains("client to proxy at 9092: an eavesdropper reads an account, 1 times", heard.Amiss);
    }

    private static async Task<(Socket Client, Socket Proxy)> ConnectAsync()
    {
        using var listener = In(Proxy);
        listener.Bind(new IPEndPoint(IPAddress.Any, Port));
        listener.Listen();
        var client = In(Client);
        client.NoDelay = true;
        var accepting = listener.AcceptAsync(TestContext.Current.CancellationToken);
        await client.ConnectAsync(
            new IPEndPoint(IPAddress.Parse(Proxy.Address), Port), TestContext.Current.CancellationToken);
        return (client, await accepting);
    }

    private static async Task SendAsync(Socket from, Socket to, string text)
    {
        var sending = from.SendAsync(Encoding.ASCII.GetBytes(text), TestContext.Current.CancellationToken).AsTask();
        await using var received = new NetworkStream(to);
        await received.ReadExactlyAsync(new byte[text.Length], TestContext.Current.CancellationToken);
        await sending;
    }

    private static Socket In(Machine machine) => NetworkNamespace.Run(
        MachineNetwork.NamespacePath(machine.Name),
        () => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp));

    private static X509Certificate2 Certificate()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var made = new CertificateRequest("CN=proxy", key, HashAlgorithmName.SHA256)
            .CreateSelfSigned(DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch.AddYears(200));
        return X509CertificateLoader.LoadPkcs12(made.Export(X509ContentType.Pkcs12), password: null);
    }

    private static Machine New(string tier, string zone, string address) =>
        new($"{tier}-e{Tag}", tier, zone, address, new Dictionary<string, string>());
}
