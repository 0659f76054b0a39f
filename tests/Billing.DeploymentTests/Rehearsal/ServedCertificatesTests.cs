using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Billing.Rehearsal.Listening;
using Billing.Rehearsal.Steps;

namespace Billing.DeploymentTests.Rehearsal;

/// <summary>The certificates that the deployment's script makes, and those that servers show.</summary>
public sealed class ServedCertificatesTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("billing-served-").FullName;
    private readonly Socket _listener = Open();

    private string Tls => Path.Combine(_folder, "tls");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _listener.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task Every_certificate_of_a_machine_is_a_present_one_and_those_before_are_not()
    {
        await Deployed.MakeSecretsAsync(_folder);
        var before = ServedCertificates.SerialsOf(Tls);
        await Deployed.MakeSecretsAsync(_folder, "--rotate");
        var present = ServedCertificates.SerialsOf(Tls);

        Assert.Empty(before.Intersect(present));
        Assert.Equal(
            Directory.EnumerateFiles(Tls).Count(file => File.ReadAllText(file) is var text
                && text.Contains("PRIVATE KEY", StringComparison.Ordinal)
                && text.Contains("CERTIFICATE", StringComparison.Ordinal)),
            present.Count);
        Assert.NotEmpty(present);
    }

    [Fact]
    public void The_ports_are_those_of_the_rules_that_are_not_in_clear()
    {
        var ports = ServedCertificates.PortsOf(Deployed.Topology());

        Assert.Contains(("kafka", 9094), ports);
        Assert.Contains(("postgres", 5432), ports);
        Assert.DoesNotContain(ports, port => ClearPorts.All.ContainsKey(port.Port) || port.Tier == "load-balancer");
    }

    [Fact]
    public async Task What_a_server_shows_is_known_even_if_it_refuses_who_has_no_certificate()
    {
        await Deployed.MakeSecretsAsync(_folder);
        using var certificate = X509Certificate2.CreateFromPemFile(Path.Combine(Tls, "kafka"));
        _listener.Listen();
        var refusing = RefuseAsync(certificate);

        var shown = await ShownAsync();

        await Assert.ThrowsAnyAsync<Exception>(() => refusing);
        Assert.Equal(certificate.SerialNumber, shown);
        Assert.Contains(shown!, ServedCertificates.SerialsOf(Tls));
    }

    [Fact]
    public async Task A_server_without_TLS_shows_none()
    {
        _listener.Listen();
        var answering = AnswerAsync();

        Assert.Equal("", await ShownAsync());

        await answering;
    }

    [Fact]
    public async Task Where_nothing_listens_there_is_nothing_to_show() => Assert.Null(await ShownAsync());

    private Task<string?> ShownAsync() => ServedCertificates.ShownAsync(
        () => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp), "127.0.0.1",
        ((IPEndPoint)_listener.LocalEndPoint!).Port, Token);

    private async Task RefuseAsync(X509Certificate2 certificate)
    {
        await using var stream = new SslStream(new NetworkStream(await _listener.AcceptAsync(Token), ownsSocket: true));
        await stream.AuthenticateAsServerAsync(
            new SslServerAuthenticationOptions
            {
                ServerCertificate = certificate,
                ClientCertificateRequired = true,
                EnabledSslProtocols = SslProtocols.Tls13,
                RemoteCertificateValidationCallback = (_, shown, _, _) => shown is not null,
            },
            Token);
    }

    private async Task AnswerAsync()
    {
        using var socket = await _listener.AcceptAsync(Token);
        await socket.SendAsync("HTTP/1.1 400 Bad Request\r\n\r\n"u8.ToArray(), Token);
        socket.Shutdown(SocketShutdown.Send);
        while (await socket.ReceiveAsync(new byte[1024], Token) > 0)
        {
        }
    }

    // It has a port, at which nothing listens yet.
    private static Socket Open()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return socket;
    }
}
