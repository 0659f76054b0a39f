using System.Text;
using Billing.LocalStack.Processes;
using Billing.Rehearsal.Listening;
using Billing.Rehearsal.Machines;
using Billing.Rehearsal.Steps;

namespace Billing.DeploymentTests.Rehearsal;

/// <summary>The secrets that the deployment's script makes, as the rehearsal sees them.</summary>
public sealed class SecretValuesTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("billing-rehearsed-secrets-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task A_secret_that_stays_is_named_and_one_that_may_stay_is_not()
    {
        await Deployed.MakeSecretsAsync(_folder);
        var before = await ReadAsync();
        var stored = before.Names.ToDictionary(name => name, name => File.ReadAllText(Path.Combine(_folder, name)));
        await Deployed.MakeSecretsAsync(_folder, ["--rotate", .. Rotation.Trusted.Intersect(stored.Keys)]);
        await Deployed.MakeSecretsAsync(_folder, "--rotate");

        before.AllReplacedIn(await ReadAsync(), SecretValues.Kept);

        Assert.NotEmpty(stored);
        foreach (var (name, value) in stored.Where(secret => !SecretValues.Kept.ContainsKey(secret.Key)))
        {
            var file = Path.Combine(_folder, name);
            var replaced = File.ReadAllText(file);
            File.WriteAllText(file, value);
            var later = await ReadAsync();
            var refused = Assert.Throws<StackException>(() => before.AllReplacedIn(later, SecretValues.Kept));
            Assert.Equal("These secrets have the value of before: " + name, refused.Message);
            before.AllReplacedIn(later, new Dictionary<string, string>(SecretValues.Kept) { [name] = "" });
            File.WriteAllText(file, replaced);
        }
    }

    [Fact]
    public async Task A_new_certificate_with_the_former_key_is_no_replacement()
    {
        await Deployed.MakeSecretsAsync(_folder);
        var before = await ReadAsync();
        await Deployed.MakeSecretsAsync(_folder, ["--rotate", .. Rotation.Trusted.Intersect(before.Names)]);
        await Deployed.MakeSecretsAsync(_folder, "--rotate");
        var (former, present) = (before["tls/kafka"], (await ReadAsync())["tls/kafka"]);

        File.WriteAllText(
            Path.Combine(_folder, "tls/kafka"), former[..CertificateIn(former)] + present[CertificateIn(present)..]);

        var later = await ReadAsync();
        Assert.EndsWith(
            "before: tls/kafka",
            Assert.Throws<StackException>(() => before.AllReplacedIn(later, SecretValues.Kept)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_secret_that_is_listed_and_not_there_is_named()
    {
        await Deployed.MakeSecretsAsync(_folder);
        File.Delete(Path.Combine(_folder, "kafka/admin"));

        Assert.Equal(
            "The secret kafka/admin does not exist.", (await Assert.ThrowsAsync<StackException>(ReadAsync)).Message);
    }

    [Fact]
    public async Task An_eavesdropper_finds_every_secret_and_every_former_one_but_no_certificate()
    {
        await Deployed.MakeSecretsAsync(_folder);
        var needles = new Needles(SecretTexts.Of(_folder));
        var former = await ReadAsync();
        await Deployed.MakeSecretsAsync(_folder, "--rotate");
        needles = needles.And(SecretTexts.Of(_folder));
        var present = await ReadAsync();

        Assert.All(
            from name in former.Names
            from value in (string[])[former[name], present[name]]
            select (Name: name, Value: value),
            secret =>
            {
                var isPem = secret.Value.Contains("-----BEGIN ", StringComparison.Ordinal);
                var found = FoundIn(needles, isPem ? secret.Value : secret.Value.Split(' ')[0]);
                if (secret.Value.Contains("PRIVATE KEY", StringComparison.Ordinal))
                {
                    Assert.Equal(["the key " + secret.Name], found);
                }
                else if (isPem)
                {
                    Assert.Empty(found);
                }
                else
                {
                    Assert.Equal(["the secret " + secret.Name], found);
                    Assert.All((string[])["", "a", "ab", "patroni:"], before => Assert.Equal(
                        [$"the secret {secret.Name} in base64"],
                        FoundIn(needles, InBase64(before + secret.Value.Split(' ')[0] + "!"))));
                }
            });
    }

    private async Task<SecretValues> ReadAsync() =>
        SecretValues.Read(await Deployed.MakeSecretsAsync(_folder, "--list"), _folder);

    private static int CertificateIn(string pem) => pem.IndexOf("-----BEGIN CERTIFICATE", StringComparison.Ordinal);

    private static string InBase64(string text) => Convert.ToBase64String(Encoding.Latin1.GetBytes(text));

    private static Dictionary<string, long>.KeyCollection FoundIn(Needles needles, string text)
    {
        var found = new Dictionary<string, long>();
        needles.Count(text, 0, found);
        return found.Keys;
    }
}
