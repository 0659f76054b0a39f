using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Billing.LocalStack.Processes;
using Billing.Rehearsal.Listening;
using Billing.Rehearsal.Machines;
using Billing.Rehearsal.Network;

namespace Billing.Rehearsal.Steps;

/// <summary>Which certificates the machines show to those who connect.</summary>
internal static class ServedCertificates
{
    private const string Folder = "tls";
    private const string Authority = "ca";

    // Programs that read a file again do so within seconds.
    private static readonly TimeSpan Bound = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan AttemptBound = TimeSpan.FromSeconds(5);

    // PostgreSQL is asked for encryption first.
    private const int PostgresPort = 5432;
    private static readonly byte[] Request = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

    /// <summary>Checks every port of every machine that others connect to, but for those in clear: the certificate that
    /// is shown there must be a present one.</summary>
    /// <returns>The number of ports that were checked.</returns>
    /// <exception cref="StackException">One shows another certificate or none, or nothing listens at a port on any
    /// machine; the message has all of them.</exception>
    public static async Task<int> CheckAsync(Platform platform, CancellationToken cancellationToken)
    {
        var present = SerialsOf(Path.Combine(platform.Site.Secrets, Folder));
        var amiss = new List<string>();
        var shown = 0;
        foreach (var (tier, port) in PortsOf(platform.Topology))
        {
            var machines = 0;
            foreach (var machine in platform.Topology.Tier(tier))
            {
                var serial = await Poll.LastAsync(
                    () => ShownAsync(() => SocketOn(machine), machine.Address, port, cancellationToken),
                    found => found is null || present.Contains(found), Bound, TimeSpan.FromSeconds(1),
                    cancellationToken);
                machines += serial is null ? 0 : 1;
                if (serial is not null && !present.Contains(serial))
                {
                    amiss.Add($"{machine.Name} at {port} shows no present certificate, but "
                        + (serial.Length == 0 ? "none" : serial));
                }
            }
            if (machines == 0)
            {
                amiss.Add($"nothing listens at {port} on any machine of {tier}");
            }
            shown += machines;
        }
        return amiss.Count == 0 ? shown : throw new StackException(string.Join("; ", amiss));
    }

    /// <summary>The ports where machines are reached, and where everything is encrypted.</summary>
    internal static IReadOnlyList<(string Tier, int Port)> PortsOf(Topology topology) =>
    [
        .. (from rule in topology.Rules
            where topology.Tier(rule.To).Any() && !ClearPorts.All.ContainsKey(rule.Port)
            select (rule.To, rule.Port)).Distinct(),
    ];

    /// <summary>The serial numbers of the certificates in a folder, in hexadecimal, but for the authorities'.</summary>
    internal static HashSet<string> SerialsOf(string secrets)
    {
        var serials = new HashSet<string>(StringComparer.Ordinal);
        foreach (var file in Directory.EnumerateFiles(secrets)
            .Where(file => !file.EndsWith(Authority, StringComparison.Ordinal)))
        {
            var certificates = new X509Certificate2Collection();
            certificates.ImportFromPemFile(file);
            foreach (var certificate in certificates)
            {
                serials.Add(certificate.SerialNumber);
                certificate.Dispose();
            }
        }
        return serials;
    }

    /// <summary>The serial number of the certificate that a server shows, also to those whom it then refuses.</summary>
    /// <returns>Empty if it shows none; null if nothing listens there, as on brokers that are no controllers.</returns>
    internal static async Task<string?> ShownAsync(
        Func<Socket> open, string address, int port, CancellationToken cancellationToken)
    {
        using var bound = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        bound.CancelAfter(AttemptBound);
        using var socket = open();
        var serial = "";
        try
        {
            await socket.ConnectAsync(new IPEndPoint(IPAddress.Parse(address), port), bound.Token);
            await using var stream = new NetworkStream(socket);
            if (port == PostgresPort)
            {
                await stream.WriteAsync(Request, bound.Token);
                await stream.ReadExactlyAsync(new byte[1], bound.Token);
            }
            await using var encrypted = new SslStream(stream, leaveInnerStreamOpen: true, (_, certificate, _, _) =>
            {
                serial = certificate?.GetSerialNumberString() ?? "";
                return certificate is not null;
            });
            await encrypted.AuthenticateAsClientAsync(
                new SslClientAuthenticationOptions { TargetHost = address }, bound.Token);
        }
        catch (SocketException e) when (e.SocketErrorCode == SocketError.ConnectionRefused)
        {
            return null;
        }
        catch (Exception e) when (e is IOException or SocketException or AuthenticationException
            || (e is OperationCanceledException && !cancellationToken.IsCancellationRequested))
        {
            // It shows none, or has refused afterwards.
        }
        return serial;
    }

    private static Socket SocketOn(Machine machine) => NetworkNamespace.Run(
        MachineNetwork.NamespacePath(machine.Name),
        () => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp));
}
